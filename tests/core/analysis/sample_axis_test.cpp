#include "core/analysis/sample_axis.h"

#include <gmock/gmock.h>

#include <cmath>

namespace ulpscope::analysis {
namespace {

using Kind = session::SampleAxis::Kind;

// A tensor of `shape` in which `belongs(coordinates)` says which elements hang on the replaced sample.
template <typename F>
SampleAxisEvidence probe(const std::vector<std::int64_t>& shape, SampleProbe which, F belongs) {
  std::int64_t n = 1;
  for (const auto s : shape) n *= s;
  std::vector<float> before(static_cast<std::size_t>(n), 1), after = before;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::int64_t> at(shape.size());
    std::int64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];
    if (belongs(at)) after[static_cast<std::size_t>(i)] = 2;
  }
  return findSampleAxis({before.data(), base::DType::float32, shape}, {after.data(), base::DType::float32, shape}, which);
}

TEST(SampleAxis, IsFoundWhereverItLies) {
  EXPECT_EQ(probe({4, 5, 2}, {4, 3}, [](const auto& at) { return at[0] == 3; }).axis().text(), "0");
  EXPECT_EQ(probe({5, 4, 2}, {4, 3}, [](const auto& at) { return at[1] == 3; }).axis().text(), "1");
}

TEST(SampleAxis, AnAxisOfTheSameLengthIsNotMistakenForIt) {
  // Sequence-first with L == B: dim 0 has the batch's size and is not the batch.
  EXPECT_EQ(probe({4, 4, 2}, {4, 3}, [](const auto& at) { return at[1] == 3; }).axis().text(), "1");
}

TEST(SampleAxis, FoldedHeadsAreToldApart) {
  EXPECT_EQ(probe({12, 5}, {4, 3}, [](const auto& at) { return at[0] / 3 == 3; }).axis().text(), "0:batch*n");
  EXPECT_EQ(probe({12, 5}, {4, 3}, [](const auto& at) { return at[0] % 4 == 3; }).axis().text(), "0:n*batch");
}

TEST(SampleAxis, CouplingAcrossSamplesHasNoAxis) {
  const auto evidence = probe({4, 5}, {4, 3}, [](const auto&) { return true; });
  EXPECT_EQ(evidence.axis().kind, Kind::wholeBatch);
  EXPECT_TRUE(evidence.unconfined());
}

// Values of [rows, 2] before and after a probe.
SampleAxisEvidence probeRows(const std::vector<float>& before, const std::vector<float>& after, SampleProbe which) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(before.size()) / 2, 2};
  return findSampleAxis({before.data(), base::DType::float32, shape}, {after.data(), base::DType::float32, shape}, which);
}

TEST(SampleAxis, SamplesThatHangOnEachOtherInTheirOwnPlacesAreCoupledThere) {
  // Each row minus the mean of all: replacing row 2 moves it by 3/4 of what it changes and the others by 1/4.
  const auto evidence = probeRows({1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3, 8, 9, 6, 7}, {4, 2});
  EXPECT_TRUE(evidence.unconfined());
  EXPECT_THAT(evidence.coupled, testing::ElementsAre(0));
}

TEST(SampleAxis, SamplesInOthersPlacesAreNotCoupled) {
  EXPECT_THAT(probeRows({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 9, 9, 5, 6, 7, 8}, {4, 2}).coupled, testing::IsEmpty()) << "a turned batch";
  EXPECT_THAT(probeRows({1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 6, 7, 4, 5, 6, 7}, {4, 2}).coupled, testing::IsEmpty()) << "turned and coupled";
  EXPECT_THAT(probeRows({1, 2, 3, 4}, {0, 1, 4, 5}, {2, 1}).coupled, testing::IsEmpty()) << "two that change alike";
  EXPECT_THAT(probeRows({1, 2, 3, 4}, {0, NAN, 9, 9}, {2, 1}).coupled, testing::ElementsAre(0)) << "non-finite values are no part of the sums";
}

TEST(SampleAxis, CouplingMustHoldInEveryProbe) {
  auto evidence = probeRows({1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3, 8, 9, 6, 7}, {4, 2});
  evidence.add(probeRows({1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3, 8, 9, 6, 7}, {4, 0}));
  EXPECT_THAT(evidence.coupled, testing::IsEmpty());
}

bool keeps(const std::vector<float>& before, const std::vector<float>& after, const session::SampleAxis& axis, const std::vector<std::int64_t>& order) {
  const auto shapeOf = [](const std::vector<float>& values) { return std::vector<std::int64_t>{static_cast<std::int64_t>(values.size()) / 2, 2}; };
  return keepsPlaces({before.data(), base::DType::float32, shapeOf(before)}, {after.data(), base::DType::float32, shapeOf(after)}, axis, 3, order);
}

TEST(SampleAxis, KeepsPlacesWhenEachSamplesEntriesMoveWithIt) {
  const std::vector<float> three{1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(keeps(three, {5, 6, 3, 4.0001F}, {Kind::plain, 0}, {2, 1})) << "last bits may differ";
  EXPECT_FALSE(keeps(three, {3, 4, 5, 6}, {Kind::plain, 0}, {2, 1})) << "sorted again";
  EXPECT_FALSE(keeps(three, {1, 2, 3, 4}, {Kind::plain, 0}, {2, 1})) << "by place";
  const std::vector<float> folded{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
  EXPECT_TRUE(keeps(folded, {5, 5, 6, 6, 3, 3, 4, 4}, {Kind::sampleMajor, 0}, {2, 1}));
  EXPECT_FALSE(keeps(folded, {5, 5, 6, 6, 3, 3, 4, 4}, {Kind::sampleMinor, 0}, {2, 1}));
  EXPECT_TRUE(keeps(folded, {3, 3, 2, 2, 6, 6, 5, 5}, {Kind::sampleMinor, 0}, {2, 1}));
  EXPECT_TRUE(keeps(three, {9, 9}, {Kind::plain, 0}, {2, 1})) << "not comparable";
  EXPECT_TRUE(keeps(three, {9, 9, 9, 9}, {Kind::wholeBatch, 0}, {2, 1})) << "no axis";
}

TEST(SampleAxis, NothingChangedSaysNothing) {
  const auto evidence = probe({4, 5}, {4, 3}, [](const auto&) { return false; });
  EXPECT_FALSE(evidence.changed);
  EXPECT_FALSE(evidence.unconfined());
  EXPECT_EQ(evidence.axis().kind, Kind::wholeBatch);
}

TEST(SampleAxis, TwoProbesSettleWhatOneLeavesOpen) {
  // One changed element on the diagonal of [4, 4] fits both axes; a second sample's change off the diagonal settles it.
  auto evidence = probe({4, 4}, {4, 3}, [](const auto& at) { return at[0] == 3 && at[1] == 3; });
  EXPECT_EQ(evidence.axis().kind, Kind::wholeBatch);
  evidence.add(probe({4, 4}, {4, 0}, [](const auto& at) { return at[0] == 0 && at[1] == 2; }));
  EXPECT_EQ(evidence.axis().text(), "0");
}

TEST(SampleAxis, AProbeThatChangedNothingTakesNothingAway) {
  auto evidence = probe({4, 5}, {4, 3}, [](const auto& at) { return at[0] == 3; });
  evidence.add(probe({4, 5}, {4, 0}, [](const auto&) { return false; }));
  EXPECT_EQ(evidence.axis().text(), "0");
}

TEST(SampleAxis, TextGoesThereAndBack) {
  for (const char* text : {"whole_batch", "0", "2", "1:batch*n", "0:n*batch"}) EXPECT_EQ(session::SampleAxis::fromText(text).text(), text);
}

TEST(Layout, AnAxisThatDoesNotFitTheShapeIsTheWholeBatch) {
  EXPECT_EQ(layoutOf({5, 3}, {Kind::plain, 0}, 4).kind, Kind::wholeBatch);
  EXPECT_EQ(layoutOf({5, 3}, {Kind::sampleMajor, 0}, 4).kind, Kind::wholeBatch);
  EXPECT_EQ(layoutOf({}, {Kind::plain, 0}, 1).kind, Kind::wholeBatch);
}

}  // namespace
}  // namespace ulpscope::analysis
