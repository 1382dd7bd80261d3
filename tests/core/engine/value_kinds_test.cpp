// Complex values, folded, integer and float64 outputs (tests/support/fixtures/kinds.py).
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"
#include "tests/support/stored_elements.h"

#include <gmock/gmock.h>

#include <cstring>

namespace ulpscope::engine {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

RunOutcome runOf(const std::string& name, int batchSize = 32, session::Observe observe = session::Observe::full) {
  session::RunRequest request = tests::requestFor("kinds/" + name);
  request.settings.batchSize = batchSize;
  request.settings.observe = observe;
  return tests::runOf(request);
}

TEST(ComplexSite, HasTheNumbersOfNumpy) {
  const RunOutcome outcome = runOf("Rotary", 4);
  const std::int64_t site = tests::siteAt(outcome, "", "aten::mul");
  EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(site)].candidateDtype, base::DType::complex64);
  EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(site)].sampleAxis, "0");
  tests::expectMetrics(outcome, site, tests::expectedOf("kinds/Rotary"));
  EXPECT_THAT(outcome.run.warnings, IsEmpty());
}

TEST(ComplexSite, CarriesAnOverflowOnAndIsNoOriginOfIt) {
  const RunOutcome outcome = runOf("RotaryOverflow");
  ASSERT_EQ(outcome.run.nonfiniteOrigins.size(), 1U);
  EXPECT_EQ(outcome.run.nonfiniteOrigins[0].modulePath, "lin");
  EXPECT_THAT(outcome.run.nonfiniteOrigins[0].sampleIds, ElementsAre("3"));
  EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(tests::siteAt(outcome, "", "aten::mul"))].role, session::NonfiniteRole::consequence);
}

// The rounding of 1/3 over 1/3, not over the norm with the 120,000 that overflowed.
TEST(IntroducedError, LeavesAnOverflowOutOfNormAndDifferenceAlike) {
  const RunOutcome outcome = runOf("PartlyInfinite");
  const std::int64_t site = tests::siteAt(outcome, "lin", "aten::linear");
  const double third = 1.0F / 3.0F, rounded = 1365.0 / 4096.0;  // half's steps are 2^-12 there
  EXPECT_NEAR(outcome.metrics[session::Metric::introducedRelL2].at(site, 0), (third - rounded) / third, 1e-9);
  EXPECT_NEAR(outcome.metrics[session::Metric::relL2].at(site, 0), (third - rounded) / third, 1e-9);
}

const storage::OutputTensors& outputOf(const RunOutcome& outcome, std::size_t output) { return outcome.outputs.at(output); }

class FoldedOutputs : public testing::TestWithParam<int> {};

TEST_P(FoldedOutputs, AreJoinedOverBatchesInTheirOwnOrder) {
  const RunOutcome outcome = runOf("Folded", GetParam());
  const auto expected = tests::expectedOf("kinds/Folded");
  ASSERT_EQ(outcome.outputs.size(), 4U);
  for (const auto& [output, name] : {std::pair<std::size_t, const char*>(0, "major"), {1, "minor"}}) {
    EXPECT_THAT(outputOf(outcome, output).shape, ElementsAre(12, 4));
    EXPECT_THAT(tests::floatsOf(outputOf(outcome, output).reference), ElementsAreArray(expected.at(name).at(0).get<std::vector<float>>())) << name;
    EXPECT_THAT(tests::floatsOf(outputOf(outcome, output).candidate), ElementsAreArray(expected.at(name).at(1).get<std::vector<float>>())) << name;
    EXPECT_EQ(outputOf(outcome, output).candidate.dtype, base::DType::float16);
  }
}

TEST_P(FoldedOutputs, OfIntegersAndFloat64AreStoredAsTheyAre) {
  const RunOutcome outcome = runOf("Folded", GetParam());
  ASSERT_EQ(outcome.outputs.size(), 4U);
  const auto expected = tests::expectedOf("kinds/Folded");
  ASSERT_EQ(outputOf(outcome, 2).reference.dtype, base::DType::int64);
  std::vector<std::int64_t> winners(6);
  std::memcpy(winners.data(), outputOf(outcome, 2).candidate.bytes.data(), 48);
  EXPECT_THAT(winners, ElementsAreArray(expected.at("winner").at(1).get<std::vector<std::int64_t>>()));
  ASSERT_EQ(outputOf(outcome, 3).reference.dtype, base::DType::float64);
  double first = 0;
  std::memcpy(&first, outputOf(outcome, 3).reference.bytes.data(), 8);
  EXPECT_EQ(first, expected.at("major").at(0).at(0).get<double>() * 0x1p200);  // no float32
}

TEST_P(FoldedOutputs, HaveAFloorAndNameTheSamplesThatOverflow) {
  const RunOutcome outcome = runOf("FoldedOverflow", GetParam(), session::Observe::outputs);
  EXPECT_THAT(outcome.run.nonfiniteSamples, ElementsAre("3"));
  ASSERT_TRUE(outcome.run.noiseFloor.has_value());
  ASSERT_EQ(outcome.run.noiseFloor->outputs.size(), 3U);  // not the integers
  for (const auto& floor : outcome.run.noiseFloor->outputs) EXPECT_EQ(floor.relL2, 0) << floor.name;  // exact in any order
}

INSTANTIATE_TEST_SUITE_P(BatchSizes, FoldedOutputs, testing::Values(2, 4, 6));

}  // namespace
}  // namespace ulpscope::engine
