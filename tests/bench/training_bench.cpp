// What training costs on the digits demo, from untrained weights: the emulated FP16 step with a scaler against a bare FP32 step of LibTorch
// (no hook, no markers) and against the trajectory "fp32" beside it, and the ledger with all its statistics against the same steps without.
#include "core/train/trajectory_run.h"
#include "tests/bench/bench_support.h"
#include "tests/bench/workload.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/optim/adam.h>

#include <cstdlib>
#include <numeric>

namespace {

using namespace ulpscope;
using namespace ulpscope::train;

constexpr int kPairs = 31, kSteps = 40, kBatch = 32;

session::Recipe recipe() {
  const nlohmann::json json = {{"model", ULPSCOPE_BENCH_TRAINING "/digits.ts"}, {"inputs", ULPSCOPE_BENCH_DEMO "/inputs.h5"}, {"loss", {{"kind", "cross_entropy"}}},
                               {"optimizers", {{{"type", "Adam"}, {"lr", 0.002}}}}, {"autocast", {{"dtype", "float16"}}}, {"scaler", {{"init_scale", 1024}}},
                               {"steps", 1}, {"batch_size", kBatch}};
  return session::recipeFromJson(json).value();
}

// A loop as C++ programs write it.
class BareLoop {
 public:
  explicit BareLoop(const engine::ReferenceSet& set)
      : m_module(torch::jit::load(ULPSCOPE_BENCH_TRAINING "/digits.ts")), m_optimizer(parameters(), torch::optim::AdamOptions(0.002)), m_images(set.inputs.at("image").tensor),
        m_labels(at::tensor(set.samples.labels, at::kLong)) {
    m_module.train();
  }
  void step() {
    const engine::ModelThreadGuard thread(1, engine::Gradients::on);
    const std::int64_t first = m_step++ % (m_images.size(0) / kBatch) * kBatch;
    m_optimizer.zero_grad();
    const at::Tensor scores = m_module.forward({m_images.narrow(0, first, kBatch)}).toTensor();
    const at::Tensor loss = at::cross_entropy_loss(scores, m_labels.narrow(0, first, kBatch));
    loss.backward();
    m_last = loss.item<double>();
    m_optimizer.step();
  }

 private:
  torch::jit::Module m_module;
  torch::optim::Adam m_optimizer;
  at::Tensor m_images, m_labels;
  std::int64_t m_step = 0;
  double m_last = 0;

  std::vector<at::Tensor> parameters() {
    std::vector<at::Tensor> list;
    for (const at::Tensor& parameter : m_module.parameters()) list.push_back(parameter);
    return list;
  }
};

template <typename Loop>
void steps(Loop& loop) {
  for (int i = 0; i < kSteps; ++i) loop.step();
}

}  // namespace

int main() {
  bench::keepFreedMemory();
  at::set_num_threads(1);
  const session::Recipe digits = recipe();
  const auto loaded = LoadedTraining::load(digits);
  if (!loaded) std::fprintf(stderr, "%s\n", loaded.error().message().c_str()), std::exit(1);
  const TrainingHooks hooks;
  const TrainingFrame frame = loaded.value()->frame(digits, hooks, {});
  const RunPlan plan{"recipe", digits.autocast, digits.scaler}, plain{"fp32", std::nullopt, std::nullopt};
  BareLoop bare(loaded.value()->set);
  TrajectoryRun emulated(frame, plan, TrajectoryRun::Accounting::off), accounted(frame, plan), fp32(frame, plain, TrajectoryRun::Accounting::off);
  const std::string workload = "digits, batches of 32";
  bench::printRatios("emulated_training_step", workload, bench::measurePairs(kPairs, [&] { steps(bare); }, [&] { steps(emulated); }), {1.6, 0});
  bench::printRatios("emulated_against_trajectory_fp32", workload, bench::measurePairs(kPairs, [&] { steps(fp32); }, [&] { steps(emulated); }), {1.6, 0});
  bench::printRatios("ledger_and_statistics", workload, bench::measurePairs(kPairs, [&] { steps(emulated); }, [&] { steps(accounted); }), {1.15, 0});
  return 0;
}
