#include "core/analysis/sample_axis.h"

#include <gmock/gmock.h>

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
