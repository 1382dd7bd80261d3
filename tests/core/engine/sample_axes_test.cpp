// Where samples lie, and whose numbers are whose: models of tests/support/fixtures/axes.py, numpy's word on each sample.
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;
using tests::expectNumbers;
using tests::runOf;
using tests::siteAt;

session::RunRequest axes(const std::string& name, int batchSize) {
  session::RunRequest request = tests::requestFor("axes/" + name);
  request.settings.batchSize = batchSize;
  request.settings.trainMode = name.rfind("Normalised", 0) == 0;
  if (name.rfind("SharedMask", 0) == 0) request.settings.batchAxis["mask"] = -1;
  return request;
}

// BatchNorm in train mode refuses a batch of one, also as the last one of five samples.
bool refuses(const std::string& name, int batchSize) { return name == "Normalised" && (batchSize == 1 || 5 % batchSize == 1); }

const std::vector<std::string> kModels{"SequenceFirst", "HeadsInBatch", "BatchInHeads", "Windows", "FlatTokens", "SharedMask", "Ignored", "Reversed",
                                       "SortedByKey", "NoAxis", "Contrastive", "Centred", "Normalised", "AsManyAsSamples"};

class Axes : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Axes, testing::ValuesIn(kModels), [](const auto& model) { return model.param; });

TEST_P(Axes, AreThoseOfTheConstructionAndCellsThoseOfEachSampleAlone) {
  for (const int batchSize : {4, 5}) {  // 4: as many samples as positions, and a last batch of one
    if (refuses(GetParam(), batchSize)) continue;
    SCOPED_TRACE(batchSize);
    const RunOutcome outcome = runOf(axes(GetParam(), batchSize));
    for (const auto& expected : tests::sitesOf("axes/" + GetParam())) {
      const std::int64_t site = siteAt(outcome, expected);
      if (site < 0) continue;
      EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(site)].sampleAxis, expected.at("axis")) << expected.dump();
      const auto flags = outcome.metrics.flags[static_cast<std::size_t>(site) * outcome.samples.ids.size()];
      EXPECT_EQ((flags & storage::kCellWholeBatch) != 0, expected.at("axis") == "whole_batch") << expected.dump();
      expectNumbers(outcome, expected);
    }
    EXPECT_THAT(outcome.run.nonfiniteOrigins, IsEmpty());
  }
}

TEST_P(Axes, CellsDoNotHangOnTheBatchSize) {
  for (const int batchSize : {1, 2, 3, 32}) {
    if (refuses(GetParam(), batchSize)) continue;
    SCOPED_TRACE(batchSize);
    const RunOutcome outcome = runOf(axes(GetParam(), batchSize));
    for (const auto& expected : tests::sitesOf("axes/" + GetParam())) expectNumbers(outcome, expected);
    EXPECT_EQ(outcome.run.samplesComplete, 5);
  }
}

TEST_P(Axes, AnOverflowIsTheSamplesThatHasItAtTheOpThatMakesIt) {
  const auto expected = tests::expectedOf("axes/" + GetParam() + "Overflow").at("origin");
  for (const int batchSize : {2, 3, 4, 5}) {
    if (refuses(GetParam(), batchSize)) continue;
    SCOPED_TRACE(batchSize);
    const RunOutcome outcome = runOf(axes(GetParam() + "Overflow", batchSize));
    ASSERT_FALSE(outcome.run.nonfiniteOrigins.empty());
    const auto& first = outcome.run.nonfiniteOrigins.front();
    EXPECT_EQ(first.modulePath, expected.at("module"));
    EXPECT_EQ(first.op, expected.at("op"));
    EXPECT_EQ(first.wholeBatch, expected.at("samples").empty());
    EXPECT_THAT(first.sampleIds, ElementsAreArray(expected.at("samples").get<std::vector<std::string>>()));
  }
}

TEST_P(Axes, OfEqualSamplesAreNeverThoseOfAnotherDimension) {
  if (GetParam() == "AsManyAsSamples") GTEST_SKIP() << "marks that differ are its point";
  const RunOutcome outcome = runOf(axes(GetParam() + "Alike", 5));
  for (const auto& expected : tests::sitesOf("axes/" + GetParam() + "Alike")) {
    const std::int64_t site = siteAt(outcome, expected);
    if (site < 0) continue;
    const std::string axis = expected.at("axis");
    const std::string& found = outcome.run.sites[static_cast<std::size_t>(site)].sampleAxis;
    if (!expected.contains("max_abs")) continue;  // a permutation of equal rows, or coupled: nothing that could be wrong
    EXPECT_EQ(found, axis.size() > 1 ? "whole_batch" : axis) << expected.dump();  // the shape alone cannot tell a folding
    expectNumbers(outcome, expected);
  }
}

TEST(CoupledPair, TellsNobodyWhoseRowIsWhose) {
  // x0 - mean and x1 - mean are each other's negative: no experiment can tell the two samples apart.
  const RunOutcome outcome = runOf(axes("Centred", 2));
  EXPECT_EQ(outcome.run.sites.at(static_cast<std::size_t>(siteAt(outcome, "", "aten::sub"))).sampleAxis, "whole_batch");
}

}  // namespace
}  // namespace ulpscope::engine
