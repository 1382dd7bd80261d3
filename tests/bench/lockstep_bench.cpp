// What comparing every op costs: both runs in lock-step against the two runs without observers.
#include "core/engine/comparison.h"
#include "core/engine/forward.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace {

using namespace ulpscope;
using namespace ulpscope::engine;

constexpr int kRepetitions = 5;

struct Cost {
  double cpuSeconds = 1e9;
  double wallSeconds = 1e9;
};

template <typename F>
Cost best(F body) {
  Cost cost;
  body();  // warm-up
  for (int i = 0; i < kRepetitions; ++i) {
    timespec before{}, after{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    const auto start = std::chrono::steady_clock::now();
    body();
    cost.wallSeconds = std::min(cost.wallSeconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    cost.cpuSeconds = std::min(cost.cpuSeconds, static_cast<double>(after.tv_sec - before.tv_sec) + 1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec));
  }
  return cost;
}

int measure(const std::string& name) {
  const std::string folder = std::string(ULPSCOPE_TEST_BUILD) + "/testdata/models/" + name;
  auto model = loadModel(folder + "/model.ts");
  if (!model) return fmt::print(stderr, "{}\n", model.error().message()), 1;
  session::RunRequest request;
  request.modelPath = folder + "/model.ts";
  request.inputsPath = folder + "/inputs.pt";
  auto set = loadReferenceSet(request, model.value());
  if (!set) return fmt::print(stderr, "{}\n", set.error().message()), 1;
  const Batch batch{0, static_cast<std::int64_t>(set->samples.ids.size())};
  const Arguments arguments = argumentsFor(set.value(), batch);
  torch::jit::Module reference = copyForRun(model->module, false), candidate = copyForRun(model->module, false);
  const RegionSet none;
  ReferenceExecutor plain;
  const ForwardSetup referenceSetup{&reference, &model->aliases, &none, &plain, arguments, 0, 1, nullptr};
  const auto candidateRun = [&](const EventSink& sink) {
    EmulatedExecutor emulated({&cuda113(), at::kHalf, &none, true});
    return runForward({&candidate, &model->aliases, &none, &emulated, arguments, 0, 1, nullptr}, sink);
  };
  const AxisProbe noAxes;
  const Cost fp32 = best([&] { runPlain(referenceSetup); });
  const Cost amp = best([&] { candidateRun({}); });
  const Cost pair = best([&] {
    Comparison comparison(set->samples, base::DType::float16, noAxes);
    comparison.beginBatch(batch);
    runPair([&](const EventSink& sink) { return runForward(referenceSetup, sink); }, candidateRun, comparison, {});
  });
  fmt::print("{:28} FP32 plain {:7.1f} ms CPU, emulated FP16 {:.2f}x of it; lock-step with all metrics: CPU {:.2f}x, wall {:.2f}x of both bare runs\n", name,
             1e3 * fp32.cpuSeconds, amp.cpuSeconds / fp32.cpuSeconds, pair.cpuSeconds / (fp32.cpuSeconds + amp.cpuSeconds),
             pair.wallSeconds / (fp32.wallSeconds + amp.wallSeconds));
  return 0;
}

}  // namespace

int main() {
  int failed = 0;
  for (const char* name : {"resnet18_script", "mobilenet_v3_small_script", "vit", "encoder_trace"}) failed += measure(name);
  return failed;
}
