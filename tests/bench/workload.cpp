#include "tests/bench/workload.h"

#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/engine/path_markers.h"

#include <fmt/format.h>
#include <malloc.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdlib>
#include <limits>
#include <numeric>

namespace ulpscope::bench {
namespace {

using namespace ulpscope::engine;

const RegionSet kNoRegions;

[[noreturn]] void stop(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

void check(const SideResult& side) {
  if (side.failed) stop(side.error);
}

ForwardSetup setupOf(torch::jit::Module& module, const Workload& w, OpExecutor& executor, const Arguments& arguments) {
  ForwardSetup setup;
  setup.module = &module;
  setup.aliases = &w.aliases;
  setup.regions = &kNoRegions;
  setup.executor = &executor;
  setup.arguments = arguments;
  return setup;
}

// The tensor inputs of some samples, by their numbers.
Arguments chosen(const Arguments& arguments, const std::vector<std::int64_t>& samples) {
  Arguments copy;
  for (const auto& [name, value] : arguments) copy.emplace(name, value.toTensor().index_select(0, at::tensor(samples)));
  return copy;
}

}  // namespace

void Workload::runBareFp32() {
  const ModelThreadGuard thread(1);
  bare.get_method("forward")({}, arguments);
}

void Workload::runBareBf16() {
  const ModelThreadGuard thread(1);
  compat::setCpuAutocastDtype(at::kBFloat16);
  compat::setCpuAutocastEnabled(true);
  at::autocast::increment_nesting();
  bare.get_method("forward")({}, arguments);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  compat::setCpuAutocastEnabled(false);
}

SideResult Workload::runReference(const EventSink& sink) {
  ReferenceExecutor plain;
  ForwardSetup setup = setupOf(reference, *this, plain, arguments);
  setup.descriptions = &referenceDescriptions;
  if (trace) setup.origins = &trace->of(Side::reference);
  SideResult side = runForward(setup, sink);
  check(side);
  return side;
}

SideResult Workload::runCandidate(const EventSink& sink) {
  NativeExecutor native({&kNoRegions, true});
  ForwardSetup setup = setupOf(candidate, *this, native, arguments);
  setup.descriptions = &candidateDescriptions;
  if (trace) setup.origins = &trace->of(Side::candidate);
  SideResult side = runForward(setup, sink);
  check(side);
  return side;
}

void Workload::runEmulated(at::ScalarType low) {
  EmulatedExecutor emulated({&cuda212(), low, &kNoRegions, true});
  check(runForward(setupOf(candidate, *this, emulated, arguments), {}));
}

void Workload::runLockStep(MeetingObserver& observer) {
  runPair([&](const EventSink& sink) { return runReference(sink); }, [&](const EventSink& sink) { return runCandidate(sink); }, observer, {});
}

void Workload::compare(const IntroducedError* introduced) {
  Comparison comparison(samples, base::DType::bfloat16, axes, introduced);
  comparison.beginBatch(batch);
  runLockStep(comparison);
}

void Workload::compareAndTrace() {
  OperandTrace followed;
  followed.begin(reference, candidate);
  trace = &followed;
  Comparison comparison(samples, base::DType::bfloat16, axes);
  comparison.traceOperands(&followed);
  comparison.beginBatch(batch);
  runLockStep(comparison);
  trace = nullptr;
}

// The probes of a run: a sample replaced, at either end, and one sample less from last to first.
void Workload::findAxes() {
  const auto probe = [&](const std::vector<std::int64_t>& order) {
    ReferenceExecutor a, b;
    const Arguments other = chosen(arguments, order);
    runPair([&](const EventSink& sink) { return runForward(setupOf(reference, *this, a, arguments), sink); },
            [&](const EventSink& sink) { return runForward(setupOf(candidate, *this, b, other), sink); }, axes, {});
  };
  std::vector<std::int64_t> all(static_cast<std::size_t>(batch.size));
  std::iota(all.begin(), all.end(), 0);
  for (const std::int64_t replaced : {batch.size - 1, std::int64_t{0}}) {
    std::vector<std::int64_t> order = all;
    order[static_cast<std::size_t>(replaced)] = (replaced + 1) % batch.size;
    axes.beginProbe({batch.size, replaced});
    probe(order);
  }
  const std::vector<std::int64_t> fewer(all.rbegin(), all.rend() - 1);
  axes.beginOrder(batch.size, fewer);
  probe(fewer);
}

void keepFreedMemory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // glibc takes no more
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_ARENA_MAX, 1);  // the others drop what is free whatever the threshold
}

std::unique_ptr<Workload> loadWorkload(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  auto w = std::make_unique<Workload>();
  auto model = loadModel(path + "/model.ts");
  if (!model) stop(model.error().message() + " (build the target bench_workloads)");
  session::RunRequest request;
  request.modelPath = path + "/model.ts";
  request.inputsPath = path + "/inputs.pt";
  auto set = loadReferenceSet(request, model.value());
  if (!set) stop(set.error().message());
  w->name = name;
  w->bare = torch::jit::load(path + "/model.ts", at::kCPU);
  w->bare.eval();
  w->reference = copyForRun(model->module, /*trainMode=*/false);
  w->candidate = copyForRun(model->module, /*trainMode=*/false);
  w->aliases = model->aliases;
  w->samples = set->samples;
  w->batch = {0, static_cast<std::int64_t>(set->samples.ids.size())};
  w->arguments = argumentsFor(set.value(), w->batch);
  return w;
}

// a, b -> b, b - a: stays bounded (its period is six), and no value is used just once, since LibTorch nests such chains into one
// another when it emits code, and overflows the stack at some thousand.
std::unique_ptr<Workload> subtractions(int ops, std::int64_t samples, std::int64_t width) {
  std::string code = "def forward(self, x):\n  v0 = x\n  v1 = x\n";
  for (int i = 2; i < ops + 2; ++i) code += fmt::format("  v{} = v{} - v{}\n", i, i - 1, i - 2);
  code += fmt::format("  return v{}\n", ops + 1);
  auto w = std::make_unique<Workload>();
  w->name = fmt::format("{} subtractions of [{}, {}]", ops, samples, width);
  for (torch::jit::Module* module : {&w->bare, &w->reference, &w->candidate}) {
    *module = torch::jit::Module("Subtractions");
    module->define(code);
    if (module != &w->bare) markPaths(*module);
  }
  w->batch = {0, samples};
  for (std::int64_t i = 0; i < samples; ++i) w->samples.ids.push_back(std::to_string(i));
  w->arguments.emplace("x", at::randn({samples, width}));
  return w;
}

}  // namespace ulpscope::bench
