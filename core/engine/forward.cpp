#include "core/engine/forward.h"

#include "core/engine/loaded_model.h"
#include "core/engine/values.h"

namespace ulpscope::engine {

Arguments ownCopies(const Arguments& arguments) {
  Arguments copies;
  for (const auto& [name, value] : arguments)
    copies.emplace(name, mapTensors(value, [](const at::Tensor& t) { return t.clone(); }));
  return copies;
}

namespace {

class ForwardGuard {
 public:
  explicit ForwardGuard(OpExecutor& executor) : m_executor(executor) { m_executor.beginForward(); }
  ~ForwardGuard() { m_executor.endForward(); }
  ForwardGuard(const ForwardGuard&) = delete;
  ForwardGuard& operator=(const ForwardGuard&) = delete;

 private:
  OpExecutor& m_executor;
};

}  // namespace

SideResult runForward(const ForwardSetup& setup, EventSink sink) {
  const at::AutoGradMode copies(false);
  const Arguments arguments = ownCopies(setup.arguments);
  if (setup.origins)
    for (const auto& [name, value] : arguments) setup.origins->input(name, value);
  return runUnder(setup, [&](ExecutionPlace&) { return setup.module->get_method("forward")({}, arguments); }, std::move(sink));
}

SideResult runUnder(const ForwardSetup& setup, const Body& body, EventSink sink) {
  SideResult result;
  // What the sink throws is not the model's failure: it is kept apart from what travels through the interpreter.
  std::exception_ptr sinkFailure;
  const EventSink watching = [&](OpEvent& event) {
    if (!sink) return;
    try {
      sink(event);
    } catch (...) {
      sinkFailure = std::current_exception();
      throw std::runtime_error("stopped");
    }
  };
  const ModelThreadGuard thread(setup.threads, setup.gradients);
  ExecutionPlace place(*setup.regions, *setup.aliases, setup.device);
  place.tellReturns(setup.onReturn);
  if (Origins* origins = setup.origins) place.tellBorderCasts([origins](const at::Tensor& from, const at::Tensor& cast) { origins->same(from, cast); });
  DescriptionCache own;
  ObservingHook hook(place, *setup.executor, sink ? watching : EventSink(), setup.seed, setup.descriptions ? *setup.descriptions : own);
  try {
    const ForwardGuard forward(*setup.executor);
    const PlaceGuard atPlace(place);
    const InterceptionGuard intercept(hook);
    result.value = body(place);
  } catch (const std::exception& e) {
    if (sinkFailure) std::rethrow_exception(sinkFailure);
    result.failed = true;
    result.unsupported = hook.unsupported();
    result.error = plainMessage(e);
    result.modulePath = place.modulePath();
    result.op = hook.lastOp();
  }
  result.drewRandomNumbers = hook.drewRandomNumbers();
  result.opened = hook.opened();
  if (setup.brokenAliases) *setup.brokenAliases = place.brokenAliases();
  return result;
}

SideResult runPlain(const ForwardSetup& setup) {
  SideResult result;
  const ModelThreadGuard thread(setup.threads);
  const Arguments arguments = ownCopies(setup.arguments);
  try {
    result.value = setup.module->get_method("forward")({}, arguments);
  } catch (const std::exception& e) {
    result.failed = true;
    result.error = plainMessage(e);
  }
  return result;
}

}  // namespace ulpscope::engine
