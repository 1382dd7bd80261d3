#include "core/engine/forward.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/engine/static_ops.h"
#include "tests/core/engine/fixture.h"

#include <gmock/gmock.h>
#include <torch/csrc/jit/serialization/import.h>

#include <set>

namespace ulpscope::engine {
namespace {

class OnFixture : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Models, OnFixture,
                         testing::Values("resnet18_script", "resnet18_trace", "mobilenet_v3_small_script", "mobilenet_v3_small_trace", "vit",
                                         "encoder_script", "encoder_trace", "lstm_script", "lstm_trace", "loop", "modulelist_shared",
                                         "modulelist_shared_mask"),
                         [](const auto& model) { return model.param; });

struct Watched {
  SideResult result;
  std::vector<std::string> opPaths;
  std::int64_t ops = 0;
};

Watched watch(const LoadedModel& model, const Arguments& arguments) {
  torch::jit::Module copy = copyForRun(model.module, /*trainMode=*/false);
  ReferenceExecutor plain;
  const RegionSet none;
  Watched watched;
  watched.result = runForward({&copy, &model.aliases, &none, &plain, arguments, 0, 1, nullptr}, [&](OpEvent& event) {
    ++watched.ops;
    if (watched.opPaths.empty() || watched.opPaths.back() != event.modulePath) watched.opPaths.push_back(event.modulePath);
  });
  return watched;
}

// A module as a newcomer runs it: loaded afresh, never marked, no hook. Only the autocast flag and the interpreter's modes are ours.
SideResult runUnmarked(const std::string& name, const Arguments& arguments) {
  torch::jit::Module module = torch::jit::load(tests::modelPath(name), at::kCPU);
  module.eval();
  const ModelThreadGuard thread(1);
  SideResult result;
  result.value = module.get_method("forward")({}, arguments);
  return result;
}

TEST_P(OnFixture, ObservedOutputsAreBitIdenticalToAPlainRun) {
  auto model = loadModel(tests::modelPath(GetParam()));
  ASSERT_TRUE(model.ok()) << model.error().message();
  const auto set = loadReferenceSet(tests::requestFor(GetParam()), model.value());
  ASSERT_TRUE(set.ok()) << set.error().message();
  const Arguments arguments = argumentsFor(set.value(), Batch{0, static_cast<std::int64_t>(set->samples.ids.size())});
  const Watched watched = watch(model.value(), arguments);
  ASSERT_FALSE(watched.result.failed) << watched.result.error;
  EXPECT_GT(watched.ops, 3);
  const auto observed = flattenOutputs(watched.result.value);
  const auto plain = flattenOutputs(runUnmarked(GetParam(), arguments).value);
  ASSERT_EQ(observed.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(observed[i].name, plain[i].name);
    EXPECT_TRUE(observed[i].tensor.equal(plain[i].tensor)) << plain[i].name;
  }
}

TEST_P(OnFixture, OutputsHaveTheNamesAndValuesOfEagerPyTorch) {
  auto model = loadModel(tests::modelPath(GetParam()));
  const auto set = loadReferenceSet(tests::requestFor(GetParam()), model.value());
  const Watched watched = watch(model.value(), argumentsFor(set.value(), Batch{0, static_cast<std::int64_t>(set->samples.ids.size())}));
  const auto outputs = flattenOutputs(watched.result.value);
  const auto document = tests::expectedOf(GetParam());
  ASSERT_EQ(outputs.size(), document.at("outputs").size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& expected = document.at("outputs").at(i);
    EXPECT_EQ(outputs[i].name, expected.at("name"));
    EXPECT_EQ(outputs[i].tensor.sizes().vec(), expected.at("shape").get<std::vector<std::int64_t>>());
    const at::Tensor values = at::tensor(expected.at("values").get<std::vector<double>>(), at::kDouble);
    const at::Tensor flat = outputs[i].tensor.flatten().to(at::kDouble).narrow(0, 0, values.numel());
    // Eager PyTorch may take fused paths: FP32's last bits differ.
    EXPECT_TRUE(at::allclose(flat, values, 1e-4, 1e-5 * std::max(1.0, values.abs().max().item<double>()))) << outputs[i].name;
  }
}

TEST_P(OnFixture, ModulePathsAreThoseOfNamedModules) {
  auto model = loadModel(tests::modelPath(GetParam()));
  ASSERT_TRUE(model.ok());
  std::vector<std::pair<std::string, std::string>> expected, found;
  const auto document = tests::expectedOf(GetParam());
  for (const auto& m : document.at("modules")) expected.emplace_back(m.at("path"), m.at("type"));
  for (const auto& m : model->info.modules) found.emplace_back(m.path, m.typeName);
  EXPECT_EQ(found, expected);
  EXPECT_THAT(model->unresolvedCalls, testing::IsEmpty());
}

TEST_P(OnFixture, OpsStandInTheModulesThatPythonCalled) {
  auto model = loadModel(tests::modelPath(GetParam()));
  const auto set = loadReferenceSet(tests::requestFor(GetParam()), model.value());
  ASSERT_TRUE(set.ok());
  const Watched watched = watch(model.value(), argumentsFor(set.value(), Batch{0, 2}));
  const auto expected = tests::expectedOf(GetParam());
  std::set<std::string> called;
  for (const auto& path : expected.at("called")) called.insert(path);
  const std::set<std::string> seen(watched.opPaths.begin(), watched.opPaths.end());
  for (const std::string& path : seen) EXPECT_TRUE(called.count(path)) << "'" << path << "' has ops but was not called in Python";
  std::set<std::string> working;  // leaf modules that must have an op of their own
  for (const auto& m : expected.at("loaded_modules"))
    if (const std::string type = m.at("type");
        (type == "Conv2d" || type == "BatchNorm2d" || type == "LayerNorm" || type == "LSTM") && called.count(m.at("path")))
      working.insert(m.at("path"));
  for (const std::string& path : working) EXPECT_TRUE(seen.count(path)) << "'" << path << "' was called in Python and shows no op";
}

TEST(SharedModule, StandsUnderItsFirstNameWhicheverWayItIsCalled) {
  auto model = loadModel(tests::modelPath("modulelist_shared"));
  ASSERT_TRUE(model.ok());
  const auto& modules = model->info.modules;
  const auto shared = std::find_if(modules.begin(), modules.end(), [](const auto& m) { return m.path == "shared"; });
  ASSERT_NE(shared, modules.end());
  EXPECT_THAT(shared->aliases, testing::Not(testing::IsEmpty()));
  for (const std::string& alias : shared->aliases) {
    EXPECT_EQ(model->aliases.at(alias), "shared");
    for (const auto& op : model->ops) EXPECT_NE(op.modulePath, alias);
  }
}

TEST(StaticOps, NameTheLineThatTheAuthorWrote) {
  auto model = loadModel(tests::modelPath("loop"));
  ASSERT_TRUE(model.ok());
  ASSERT_FALSE(model->ops.empty());
  std::size_t named = 0;
  for (const auto& op : model->ops) {
    if (op.source.empty()) continue;  // made by the compiler, no line of the author's
    ++named;
    EXPECT_THAT(op.source, testing::ContainsRegex("\\.py:[0-9]+$")) << op.op;
    EXPECT_THAT(op.source, testing::Not(testing::HasSubstr("torch_mangle"))) << op.op;
  }
  EXPECT_GT(named, model->ops.size() / 2);
}

}  // namespace
}  // namespace ulpscope::engine
