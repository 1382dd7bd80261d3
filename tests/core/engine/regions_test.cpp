#include "core/engine/regions.h"

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

using testing::HasSubstr;

model::ModelInfo someModel() {
  model::ModelInfo info;
  for (const char* path : {"", "encoder", "encoder.layers", "encoder.layers.0", "encoder.layers.0.fc1", "encoder.layers.0.fc2", "head"})
    info.modules.push_back({path, "Module", {}, 0});
  info.modules.back().aliases = {"tied_head"};
  return info;
}

const std::vector<model::StaticOp> kOps{{"encoder.layers.0", "aten::matmul", "", "model.py:12", ""},
                                        {"encoder.layers.0", "aten::add", "Tensor", "model.py:13", ""}};

TEST(Regions, APathThatMatchesNothingNamesTheNearest) {
  const auto set = RegionSet::make({"encoder.layer.0.fc2"}, {}, someModel(), kOps);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().kind, base::ErrorKind::usage);
  EXPECT_THAT(set.error().message(), HasSubstr("--fp32 encoder.layer.0.fc2"));
  EXPECT_THAT(set.error().message(), HasSubstr("'encoder.layers.0.fc2'"));
}

TEST(Regions, GlobsAndTheRootMatch) {
  const auto set = RegionSet::make({"encoder.*.fc?"}, {"."}, someModel(), kOps);
  ASSERT_TRUE(set.ok()) << set.error().message();
  EXPECT_EQ(set->matchesModule("encoder.layers.0.fc1"), RegionKind::fp32);
  EXPECT_EQ(set->matchesModule(""), RegionKind::disable);
  EXPECT_EQ(set->matchesModule("encoder"), std::nullopt);  // begins at the root, not here
}

TEST(Regions, Fp32WinsOverDisableAtOneModule) {
  const auto set = RegionSet::make({"head"}, {"head"}, someModel(), kOps);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->matchesModule("head"), RegionKind::fp32);
}

TEST(Regions, AnAliasOfASharedModuleNamesTheModule) {
  const auto set = RegionSet::make({"tied_head"}, {}, someModel(), kOps);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->matchesModule("head"), RegionKind::fp32);
}

TEST(Regions, AnOpSiteMatchesByOverloadLineAndOccurrence) {
  const auto set = RegionSet::make({"encoder.layers.0:aten::add.Tensor@13#2"}, {}, someModel(), kOps);
  ASSERT_TRUE(set.ok()) << set.error().message();
  OpName op{"encoder.layers.0", "aten::add", "Tensor", "model.py:13", 2};
  EXPECT_EQ(set->matchesOp(op), RegionKind::fp32);
  op.occurrence = 1;
  EXPECT_EQ(set->matchesOp(op), std::nullopt);
  op = {"encoder.layers.0", "aten::add", "Tensor", "model.py:14", 2};
  EXPECT_EQ(set->matchesOp(op), std::nullopt);
}

TEST(Regions, TakeOpSitesAsReportsPrintThem) {
  const auto set = RegionSet::make({"encoder.layers.0: aten::matmul"}, {}, someModel(), kOps);
  ASSERT_TRUE(set.ok()) << set.error().message();
  EXPECT_EQ(set->matchesOp({"encoder.layers.0", "aten::matmul", "", "model.py:12", 1}), RegionKind::fp32);
  std::vector<model::StaticOp> ops = kOps;
  ops.push_back({"", "aten::relu", "", "model.py:9", ""});
  const auto root = RegionSet::make({"(root): aten::relu"}, {"(root)"}, someModel(), ops);
  ASSERT_TRUE(root.ok()) << root.error().message();
  EXPECT_EQ(root->matchesOp({"", "aten::relu", "", "model.py:9", 1}), RegionKind::fp32);
  EXPECT_EQ(root->matchesModule(""), RegionKind::disable);
}

TEST(Regions, AnOpSiteThatIsNotInTheModelNamesTheNearest) {
  const auto set = RegionSet::make({}, {"encoder.layers.0:aten::matmull"}, someModel(), kOps);
  ASSERT_FALSE(set.ok());
  EXPECT_THAT(set.error().message(), HasSubstr("'encoder.layers.0:aten::matmul'"));
}

}  // namespace
}  // namespace ulpscope::engine
