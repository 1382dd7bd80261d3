// What screening a large set costs (`run --observe outputs`): 10,000 small images through the digits demo, and 1,024 of 32x32 through a
// MobileNet, outputs, decisions and non-finite flags, against the two bare runs of the same batches, one after the other: FP32, and the candidate with nobody looking. Without the noise
// floor, which is a run of its own.
#include "core/engine/engine.h"
#include "core/engine/executors.h"
#include "core/engine/forward.h"
#include "core/engine/loaded_model.h"
#include "core/engine/policy_table.h"
#include "tests/bench/bench_support.h"
#include "tests/bench/workload.h"
#include "tests/support/scratch_folder.h"

#include <torch/csrc/jit/serialization/import.h>

#include <cstdlib>

namespace {

using namespace ulpscope;

constexpr int kBatch = 32;

struct Subject {
  const char* name;
  const char* model;
  const char* input;
  std::vector<std::int64_t> shape;  // of all samples
  int pairs;
};

struct Screening {
  const Subject& subject;
  torch::jit::Module model = torch::jit::load(subject.model);
  torch::jit::Module holder{"Inputs"};
  std::string inputs;
  at::Tensor x;
  engine::Engine engine;  // keeps the model from screening to screening
  engine::RegionSet none;
  engine::PathAliases aliases;

  Screening(const Subject& of, const std::string& folder) : subject(of), inputs(folder + "/" + of.input + ".pt") {
    at::manual_seed(3);
    model.eval();
    x = at::rand(subject.shape);
    holder.register_buffer(subject.input, x);
    holder.save(inputs);
  }

  void bareRun(engine::OpExecutor& executor) {
    for (std::int64_t first = 0; first < x.size(0); first += kBatch) {
      engine::ForwardSetup setup;
      setup.module = &model;
      setup.aliases = &aliases;
      setup.regions = &none;
      setup.executor = &executor;
      setup.arguments = {{subject.input, x.narrow(0, first, std::min<std::int64_t>(kBatch, x.size(0) - first))}};
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
    request.modelPath = subject.model;
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
  const tests::ScratchFolder folder;
  for (const Subject& subject : {Subject{"digits, 10,000 images of 8x8", ULPSCOPE_BENCH_DEMO "/model.ts", "image", {10'000, 1, 8, 8}, 11},
                                 Subject{"mobilenet_v3_small, 1,024 images of 32x32", ULPSCOPE_BENCH_MODELS "/mobilenet_v3_small_script/model.ts", "x", {1024, 3, 32, 32}, 7}}) {
    Screening screening(subject, folder.path());
    bench::printRatios("screening", subject.name, bench::measurePairs(subject.pairs, [&] { screening.bare(); }, [&] { screening.screen(); }), {1.05, 1.05});
  }
  return 0;
}
