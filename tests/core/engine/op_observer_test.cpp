#include "core/engine/forward.h"
#include "core/engine/native_executor.h"
#include "core/engine/path_markers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

const RegionSet kNoRegions;
const PathAliases kNoAliases;

struct Line {
  ExecutionIndex index;
  std::string site;
  int occurrence;
};

std::string siteOf(const OpEvent& e) { return fmt::format("{}:{}.{}@{}", e.modulePath, e.op, e.overload, e.source); }

std::vector<Line> watch(torch::jit::Module& module, const Arguments& arguments, OpExecutor& executor, DescriptionCache* cache,
                        const RegionSet& regions = kNoRegions) {
  std::vector<Line> lines;
  ForwardSetup setup;
  setup.module = &module;
  setup.aliases = &kNoAliases;
  setup.regions = &regions;
  setup.executor = &executor;
  setup.arguments = arguments;
  setup.descriptions = cache;
  const SideResult result = runForward(setup, [&](OpEvent& e) { lines.push_back({e.index, siteOf(e), e.occurrence}); });
  EXPECT_FALSE(result.failed) << result.error;
  return lines;
}

torch::jit::Module looping() {
  torch::jit::Module module("Looping");
  module.define(R"(
def step(self, x):
  return torch.relu_(x + 1.0)
def forward(self, x, times: int):
  for i in range(times):
    x = self.step(x)
  y = self.step(x)
  return torch.relu(y)
)");
  markPaths(module);
  return module;
}

Arguments looped(std::int64_t times) { return {{"x", at::tensor({-3.0F, 2.0F})}, {"times", times}}; }

TEST(DescriptionCache, AnotherForwardCountsOccurrencesAnew) {
  torch::jit::Module module = looping();
  ReferenceExecutor plain;
  DescriptionCache cache;
  const auto first = watch(module, looped(3), plain, &cache);
  const auto second = watch(module, looped(1), plain, &cache);
  ASSERT_EQ(first.size(), 9U);   // (add, relu_) x 4, relu
  ASSERT_EQ(second.size(), 5U);
  EXPECT_EQ(first[6].occurrence, 4);
  EXPECT_EQ(second[2].index, first[6].index);  // after the loop: the same place in the code
  EXPECT_EQ(second[2].site, first[6].site);
  EXPECT_EQ(second[2].occurrence, 2);          // but only the second time in this forward
}

TEST(DescriptionCache, TellsWhatAForwardWithoutOneTells) {
  torch::jit::Module module = looping();
  ReferenceExecutor plain;
  DescriptionCache cache;
  watch(module, looped(2), plain, &cache);
  const auto cached = watch(module, looped(4), plain, &cache), fresh = watch(module, looped(4), plain, nullptr);
  ASSERT_EQ(cached.size(), fresh.size());
  for (std::size_t i = 0; i < cached.size(); ++i) {
    EXPECT_EQ(cached[i].index, fresh[i].index);
    EXPECT_EQ(cached[i].site, fresh[i].site);
    EXPECT_EQ(cached[i].occurrence, fresh[i].occurrence);
  }
}

// Two models, one cache: an index that holds another op is described anew.
TEST(DescriptionCache, AnOtherOpAtTheSameIndexIsNoMixUp) {
  torch::jit::Module adding("Adding"), multiplying("Multiplying");
  adding.define("def forward(self, x):\n  return x + x\n");
  multiplying.define("def forward(self, x):\n  return x * x\n");
  ReferenceExecutor plain;
  DescriptionCache cache;
  const Arguments arguments{{"x", at::ones({2})}};
  EXPECT_THAT(watch(adding, arguments, plain, &cache).front().site, testing::HasSubstr("aten::add.Tensor"));
  EXPECT_THAT(watch(multiplying, arguments, plain, &cache).front().site, testing::HasSubstr("aten::mul.Tensor"));
}

TEST(ObservingHook, WithoutASinkTheResultIsTheSame) {
  torch::jit::Module module = looping();
  ReferenceExecutor plain;
  ForwardSetup setup;
  setup.module = &module;
  setup.aliases = &kNoAliases;
  setup.regions = &kNoRegions;
  setup.executor = &plain;
  setup.arguments = looped(2);
  std::int64_t ops = 0;
  const at::Tensor watched = runForward(setup, [&](OpEvent&) { ++ops; }).value.toTensor();
  EXPECT_EQ(ops, 7);
  EXPECT_TRUE(watched.equal(runForward(setup, {}).value.toTensor()));
}

TEST(ObservingHook, WhatASinkCallsIsNeitherObservedNorAutocast) {
  torch::jit::Module module = looping();
  NativeExecutor native({&kNoRegions, true});
  std::int64_t ops = 0;
  std::vector<at::ScalarType> products;
  ForwardSetup setup;
  setup.module = &module;
  setup.aliases = &kNoAliases;
  setup.regions = &kNoRegions;
  setup.executor = &native;
  setup.arguments = looped(1);
  runForward(setup, [&](OpEvent&) {
    ++ops;
    products.push_back(at::mm(at::ones({2, 2}), at::ones({2, 2})).scalar_type());
  });
  EXPECT_EQ(ops, 5);
  EXPECT_THAT(products, testing::Each(at::kFloat));
}

TEST(ObservingHook, OperandsThatAnOpWritesAreWhatTheyWereBefore) {
  torch::jit::Module module("Writing");
  module.define("def forward(self, x):\n  y = x + 0.0\n  y.add_(x)\n  return y.relu_()\n");
  ReferenceExecutor plain;
  ForwardSetup setup;
  setup.module = &module;
  setup.aliases = &kNoAliases;
  setup.regions = &kNoRegions;
  setup.executor = &plain;
  setup.arguments = {{"x", at::tensor({-3.0F, 2.0F})}};
  std::vector<float> before, after;
  runForward(setup, [&](OpEvent& e) {
    if (e.op != "aten::add_") return;
    before.push_back(e.operands.front().tensor[0].item<float>());
    after.push_back(e.outputs.front().tensor[0].item<float>());
    EXPECT_FALSE(e.outputs.front().isView);
  });
  EXPECT_THAT(before, testing::ElementsAre(-3.0F));
  EXPECT_THAT(after, testing::ElementsAre(-6.0F));
}

}  // namespace
}  // namespace ulpscope::engine
