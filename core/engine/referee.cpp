#include "core/engine/referee.h"

#include "core/engine/interception.h"
#include "core/engine/values.h"

namespace ulpscope::engine {
namespace {

bool isNarrow(const at::Tensor& t) { return t.defined() && t.is_floating_point() && t.scalar_type() != at::kDouble; }
bool isFloatingType(std::int64_t type) { return type == static_cast<std::int64_t>(at::kFloat) || type == static_cast<std::int64_t>(at::kHalf) || type == static_cast<std::int64_t>(at::kBFloat16); }

bool writes(const OpCall& call, std::size_t argument) {
  const auto* alias = call.op.schema().arguments()[argument].alias_info();
  return alias && alias->isWrite();
}

bool writesAnything(const OpCall& call) {
  for (std::size_t i = 0; i < call.argumentCount(); ++i)
    if (writes(call, i)) return true;
  return false;
}

// Dropout in eval mode draws nothing.
bool drawsRandomNumbers(const OpCall& call) {
  if (!call.op.hasTag(at::Tag::nondeterministic_seeded)) return false;
  for (const char* name : {"train", "training"})
    if (const auto at = call.op.schema().argumentIndexWithName(name)) {
      const c10::IValue& training = call.argument(static_cast<std::size_t>(*at));
      return !training.isBool() || training.toBool();
    }
  return true;
}

void castArguments(const OpCall& call, at::ScalarType type) {
  for (std::size_t i = 0; i < call.argumentCount(); ++i) {
    if (writes(call, i)) continue;
    call.argument(i) = mapTensors(call.argument(i), [&](const at::Tensor& t) { return t.is_floating_point() ? t.to(type) : t; });
  }
}

void widenDtypeArgument(const OpCall& call) {
  const auto index = call.op.schema().argumentIndexWithName("dtype");
  if (!index) return;
  c10::IValue& dtype = call.argument(static_cast<std::size_t>(*index));
  if (dtype.isInt() && isFloatingType(dtype.toInt())) dtype = static_cast<std::int64_t>(at::kDouble);
}

}  // namespace

void WideExecutor::execute(const OpCall& call, ExecutionPlace&, OpEvent*) {
  const OwnCalls own;
  const bool random = drawsRandomNumbers(call);
  castArguments(call, random ? at::kFloat : at::kDouble);
  if (!random) widenDtypeArgument(call);
  const bool inPlace = writesAnything(call);
  call.op.callBoxed(call.stack);
  if (inPlace) return;  // the result is the tensor that was written
  for (std::size_t r = 0; r < call.resultCount(); ++r)
    call.result(r) = mapTensors(call.result(r), [](const at::Tensor& t) { return isNarrow(t) ? t.to(at::kDouble) : t; });
}

torch::jit::Module wideCopy(const LoadedModel& model, bool trainMode) {
  const at::NoGradGuard noGrad;
  torch::jit::Module wide = model.module.deepcopy();
  wide.to(at::kDouble);
  wide.train(trainMode);
  return wide;
}

Arguments wideArguments(const Arguments& arguments) {
  Arguments wide;
  for (const auto& [name, value] : arguments)
    wide.emplace(name, mapTensors(value, [](const at::Tensor& t) { return isNarrow(t) ? t.to(at::kDouble) : t; }));
  return wide;
}

Referee::Referee(const RunFrame& frame, CandidateRun candidate)
    : m_frame(frame), m_run(std::move(candidate)), m_reference(frame.axes, frame.settings.autocast, SampleOrder::same),
      m_candidate(frame.axes, frame.settings.autocast, SampleOrder::same) {}

base::Status Referee::measureBatch(const Batch& batch, torch::jit::Module& wide, const SideFunction& other, SiteErrors& errors, std::stop_token stop) const {
  WideExecutor executor;
  const Arguments arguments = wideArguments(argumentsFor(m_frame.set, batch));
  errors.beginBatch(batch);
  const PairResult pair = runPair([&](const EventSink& sink) { return runForward(m_frame.reference(wide, executor, arguments), sink); }, other, errors, stop);
  if (pair.cancelled) return cancelledError();
  if (pair.reference.failed)
    return base::Error{base::ErrorKind::run, "the model fails in float64: " + pair.reference.error, whereText(pair.reference), "run it without --referee"};
  return base::success();
}

base::Status Referee::measure(RunProgress& progress, std::stop_token stop) {
  torch::jit::Module wide = wideCopy(m_frame.model, m_frame.settings.trainMode);
  torch::jit::Module wideAgain = wideCopy(m_frame.model, m_frame.settings.trainMode);
  torch::jit::Module reference = copyForRun(m_frame.model.module, m_frame.settings.trainMode);
  ReferenceExecutor plain;
  for (const Batch& batch : m_frame.batches) {
    progress.at(batch, 0, "", "");
    const Arguments arguments = argumentsFor(m_frame.set, batch);
    const SideFunction first = [&](const EventSink& sink) { return runForward(m_frame.reference(reference, plain, arguments), sink); };
    if (auto status = measureBatch(batch, wide, first, m_reference, stop); !status) return status;
    progress.at(batch, 0.5, "", "");
    if (auto status = measureBatch(batch, wideAgain, [&](const EventSink& sink) { return m_run(batch, sink); }, m_candidate, stop); !status) return status;
  }
  return base::success();
}

}  // namespace ulpscope::engine
