// What screening a large set costs (`run --observe outputs`): 10,000 small images through the digits demo, outputs, decisions and non-finite
// flags, against the two bare runs of the same batches, one after the other: FP32, and the candidate with nobody looking. Without the noise
// floor, which is a run of its own.
#include "core/engine/engine.h"
#include "core/engine/executors.h"
#include "core/engine/forward.h"
#include "core/engine/loaded_model.h"
#include "core/engine/policy_table.h"
#include "tests/bench/bench_support.h"
#include "tests/bench/workload.h"

#include <torch/csrc/jit/serialization/import.h>

#include <cstdlib>
#include <filesystem>

namespace {

using namespace ulpscope;

constexpr std::int64_t kSamples = 10'000;
constexpr int kBatch = 32, kPairs = 11;

at::Tensor images(const at::Tensor& some) {
  const auto seen = some.size(0);
  const at::Tensor rows = at::arange(kSamples).remainder(seen);
  return some.index_select(0, rows) + at::randn({kSamples, 1, 1, 1}) * 0.01;
}

struct Screening {
  torch::jit::Module model = torch::jit::load(ULPSCOPE_BENCH_DEMO "/model.ts");
  torch::jit::Module holder{"Inputs"};
  std::string inputs;
  at::Tensor x;
  engine::Engine engine;  // keeps the model from screening to screening
  engine::RegionSet none;
  engine::PathAliases aliases;

  explicit Screening(const std::string& folder) : inputs(folder + "/inputs.pt") {
    at::manual_seed(3);
    x = images(at::rand({64, 1, 8, 8}));
    holder.register_buffer("image", x);
    holder.save(inputs);
  }

  void bareRun(engine::OpExecutor& executor) {
    for (std::int64_t first = 0; first < kSamples; first += kBatch) {
      engine::ForwardSetup setup;
      setup.module = &model;
      setup.aliases = &aliases;
      setup.regions = &none;
      setup.executor = &executor;
      setup.arguments = {{"image", x.narrow(0, first, std::min<std::int64_t>(kBatch, kSamples - first))}};
      if (const auto side = engine::runForward(setup, {}); side.failed) std::fprintf(stderr, "%s\n", side.error.c_str()), std::exit(1);
    }
  }
  void bare() {
    engine::ReferenceExecutor plain;
    engine::EmulatedExecutor emulated({&engine::cuda212(), at::kHalf, &none, true});
    bareRun(plain);
    bareRun(emulated);
  }
  void screen() {
    session::RunRequest request;
    request.modelPath = ULPSCOPE_BENCH_DEMO "/model.ts";
    request.inputsPath = inputs;
    request.settings.observe = session::Observe::outputs;
    request.settings.noiseFloor = false;
    request.settings.batchSize = kBatch;
    request.settings.decision = session::parseDecisionRule("argmax").value();
    if (const auto outcome = engine.run(request, {}, {}); !outcome) std::fprintf(stderr, "%s\n", outcome.error().message().c_str()), std::exit(1);
  }
};

}  // namespace

int main() {
  bench::keepFreedMemory();
  std::string folder = (std::filesystem::temp_directory_path() / "ulpscope-bench-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 1;
  Screening screening(folder);
  bench::printRatios("screening", "digits, 10,000 images", bench::measurePairs(kPairs, [&] { screening.bare(); }, [&] { screening.screen(); }), {1.05, 1.05});
  std::filesystem::remove_all(folder);
  return 0;
}
