// That a benchmark tells a model which gains by BF16 from one which loses: the order of two ratios of one process, no time and no bar. Only on a
// processor that multiplies BF16, else no model gains.
#include "core/analysis/speed.h"
#include "core/engine/benchmark.h"
#include "core/engine/machine.h"
#include "tests/core/engine/fixture.h"
#include "tests/support/scratch_folder.h"

#include <torch/script.h>

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope::engine {
namespace {

constexpr std::int64_t kSamples = 64;

// Four linear layers of one width, and their inputs.
session::RunRequest stackOf(std::int64_t width, const tests::ScratchFolder& folder) {
  torch::manual_seed(0);
  torch::jit::Module model("Stack");
  std::string code = "def forward(self, x):\n";
  for (const char* layer : {"a", "b", "c", "d"}) {
    model.register_parameter(layer, torch::randn({width, width}) / std::sqrt(static_cast<double>(width)), false);
    code += std::string("  x = torch.linear(x, self.") + layer + ")\n";
  }
  model.define(code + "  return x\n");
  torch::jit::Module inputs("Holder");
  inputs.register_buffer("x", torch::randn({kSamples, width}));
  inputs.define("def forward(self):\n  return 0\n");
  session::RunRequest request;
  request.modelPath = folder.file("model.ts");
  request.inputsPath = folder.file("inputs.pt");
  model.save(request.modelPath);
  inputs.save(request.inputsPath);
  return request;
}

analysis::Speed speedOf(std::int64_t width) {
  const tests::ScratchFolder folder;
  BenchmarkOrder order;
  order.request = stackOf(width, folder);
  order.request.settings.mode = session::Mode::native;
  order.request.settings.autocast = base::DType::bfloat16;
  order.request.settings.policyTable = "cpu";
  order.request.settings.batchSize = kSamples;
  order.request.settings.noiseFloor = false;
  order.request.settings.observe = session::Observe::outputs;
  order.threads = 1;
  const auto timed = Engine().time(order, {}, {});
  EXPECT_TRUE(timed.ok()) << timed.error().message();
  if (!timed) return {};
  EXPECT_EQ(timed->differs, "");
  const auto speed = analysis::speedOf(timed->pairs);
  EXPECT_TRUE(speed.ok());
  return speed.ok() ? speed.value() : analysis::Speed{};
}

TEST(EngineBenchmark, PutsWideLayersBeforeNarrowOnesWhereBf16IsMultiplied) {
  if (bfloat16Instructions().empty()) GTEST_SKIP() << "this processor has no BF16 instructions: no model gains";
  const analysis::Speed narrow = speedOf(16), wide = speedOf(1024);
  EXPECT_GT(wide.ratio.low, narrow.ratio.high) << "FP32's time over BF16's: " << wide.ratio.median << " of 1024 wide, " << narrow.ratio.median << " of 16";
}

}  // namespace
}  // namespace ulpscope::engine
