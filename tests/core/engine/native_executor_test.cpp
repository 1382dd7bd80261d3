#include "core/engine/native_executor.h"

#include "core/engine/forward.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "tests/core/engine/fixture.h"

#include <gmock/gmock.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstring>
#include <map>

namespace ulpscope::engine {
namespace {

Arguments argumentsOf(const std::string& name, const LoadedModel& model) {
  const auto set = loadReferenceSet(tests::requestFor(name), model);
  EXPECT_TRUE(set.ok());
  return argumentsFor(set.value(), Batch{0, static_cast<std::int64_t>(set->samples.ids.size())});
}

// What a newcomer's `with torch.autocast("cpu", dtype=torch.bfloat16)` runs: loaded afresh, never marked, no hook.
SideResult runBare(const std::string& name, const Arguments& arguments, bool autocast) {
  torch::jit::Module module = torch::jit::load(tests::modelPath(name), at::kCPU);
  module.eval();
  const ModelThreadGuard thread(1);
  at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  at::autocast::set_cpu_enabled(autocast);
  SideResult result;
  try {
    result.value = module.get_method("forward")({}, arguments);
  } catch (const std::exception& e) {
    result.failed = true;
    result.error = plainMessage(e);
  }
  at::autocast::set_cpu_enabled(false);
  at::autocast::clear_cache();
  return result;
}

struct Native {
  SideResult result;
  std::int64_t loweredOps = 0;
  std::map<std::string, std::string> classes;                   // op -> policy class of its last event
  std::map<std::string, std::vector<at::ScalarType>> produced;  // op -> dtypes of its first outputs
};

// fp32: patterns of FP32 regions.
Native runNative(const LoadedModel& model, const Arguments& arguments, const std::vector<std::string>& fp32 = {}) {
  torch::jit::Module copy = copyForRun(model.module, /*trainMode=*/false);
  const auto regions = RegionSet::make(fp32, {}, model.info, model.ops);
  EXPECT_TRUE(regions.ok());
  NativeExecutor executor({&regions.value(), true});
  Native native;
  native.result = runForward({&copy, &model.aliases, &regions.value(), &executor, arguments, 0, 1, nullptr}, [&](OpEvent& event) {
    native.classes[event.op] = event.policyClass;
    if (!event.outputs.empty()) native.produced[event.op].push_back(event.outputs.front().tensor.scalar_type());
  });
  native.loweredOps = executor.loweredOps();
  return native;
}

void expectSameBits(const SideResult& a, const SideResult& b) {
  ASSERT_EQ(a.failed, b.failed) << a.error << b.error;
  EXPECT_EQ(a.error, b.error);
  if (a.failed) return;
  const auto x = flattenOutputs(a.value), y = flattenOutputs(b.value);
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const at::Tensor s = x[i].tensor.contiguous(), t = y[i].tensor.contiguous();
    ASSERT_EQ(s.scalar_type(), t.scalar_type()) << x[i].name;
    ASSERT_EQ(s.sizes(), t.sizes()) << x[i].name;
    EXPECT_EQ(std::memcmp(s.data_ptr(), t.data_ptr(), s.nbytes()), 0) << x[i].name;
  }
}

class NativeOnFixture : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Models, NativeOnFixture,
                         testing::Values("resnet18_script", "resnet18_trace", "mobilenet_v3_small_script", "vit", "encoder_script", "encoder_trace",
                                         "lstm_script", "loop", "modulelist_shared", "modulelist_shared_mask"),
                         [](const auto& model) { return model.param; });

TEST_P(NativeOnFixture, GivesTheBitsOfABareForwardUnderCpuAutocast) {
  auto model = loadModel(tests::modelPath(GetParam()));
  ASSERT_TRUE(model.ok()) << model.error().message();
  const Arguments arguments = argumentsOf(GetParam(), model.value());
  const Native native = runNative(model.value(), arguments);
  expectSameBits(native.result, runBare(GetParam(), arguments, /*autocast=*/true));
  EXPECT_GT(native.loweredOps, 0);
}

TEST_P(NativeOnFixture, WithTheRootKeptInFp32GivesTheBitsOfABareFp32Forward) {
  auto model = loadModel(tests::modelPath(GetParam()));
  ASSERT_TRUE(model.ok()) << model.error().message();
  const Arguments arguments = argumentsOf(GetParam(), model.value());
  const Native native = runNative(model.value(), arguments, {"."});
  expectSameBits(native.result, runBare(GetParam(), arguments, /*autocast=*/false));
  EXPECT_EQ(native.loweredOps, 0);
  for (const auto& [op, policyClass] : native.classes) EXPECT_EQ(policyClass, "off") << op;
}

TEST(NativeExecutor, TellsTheClassesOfTheCpuTableAndLeavesTheThreadAsItWas) {
  auto model = loadModel(tests::modelPath("resnet18_script"));
  ASSERT_TRUE(model.ok());
  const Native native = runNative(model.value(), argumentsOf("resnet18_script", model.value()));
  EXPECT_EQ(native.classes.at("aten::conv2d"), "lower_precision_fp");
  EXPECT_EQ(native.classes.at("aten::batch_norm"), "none");
  EXPECT_THAT(native.produced.at("aten::conv2d"), testing::Each(at::kBFloat16));
  EXPECT_FALSE(at::autocast::is_cpu_enabled());
  EXPECT_EQ(at::autocast::get_autocast_cpu_dtype(), at::kBFloat16);
}

TEST(NativeExecutor, AModuleOrAnOpSiteKeptInFp32GivesFloat32ThereAndBfloat16Elsewhere) {
  auto model = loadModel(tests::modelPath("resnet18_script"));
  ASSERT_TRUE(model.ok());
  const Arguments arguments = argumentsOf("resnet18_script", model.value());
  // 20 convolutions: conv1, then four a layer, three more for the shortcuts.
  const Native module = runNative(model.value(), arguments, {"layer4"});
  EXPECT_EQ(std::count(module.produced.at("aten::conv2d").begin(), module.produced.at("aten::conv2d").end(), at::kFloat), 5);
  EXPECT_EQ(std::count(module.produced.at("aten::conv2d").begin(), module.produced.at("aten::conv2d").end(), at::kBFloat16), 15);
  // A composite op: what it calls inside stays in float32 as well.
  const Native site = runNative(model.value(), arguments, {"fc:aten::linear"});
  EXPECT_EQ(site.classes.at("aten::linear"), "off");
  EXPECT_THAT(site.produced.at("aten::linear"), testing::ElementsAre(at::kFloat));
  EXPECT_EQ(std::count(site.produced.at("aten::conv2d").begin(), site.produced.at("aten::conv2d").end(), at::kBFloat16), 20);
}

// The emulated run obeys the same rule: what a composite op calls inside stays in float32 where its site is an FP32 region.
TEST(EmulatedExecutor, AnOpSiteKeptInFp32KeepsTheOpsInsideToo) {
  auto model = loadModel(tests::modelPath("resnet18_script"));
  ASSERT_TRUE(model.ok());
  const auto regions = RegionSet::make({"fc:aten::linear"}, {}, model->info, model->ops);
  ASSERT_TRUE(regions.ok());
  torch::jit::Module copy = copyForRun(model->module, /*trainMode=*/false);
  EmulatedExecutor emulated({&cuda113(), at::kHalf, &regions.value(), true});
  const ForwardSetup setup{&copy, &model->aliases, &regions.value(), &emulated, argumentsOf("resnet18_script", model.value()), 0, 1, nullptr};
  const SideResult seen = runForward(setup, [](OpEvent&) {}), unseen = runForward(setup, {});
  EXPECT_EQ(seen.value.toTensor().scalar_type(), at::kFloat);
  EXPECT_EQ(unseen.value.toTensor().scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace ulpscope::engine
