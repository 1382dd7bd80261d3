// Long sums in parts rounded to half, as a GPU may add them up. Expected values by hand.
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"
#include "tests/core/engine/emulated.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace ulpscope::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <typename F>
double emulated(bool splitSums, F body) {
  Emulated emulated;
  if (splitSums) emulated.splittingSums();
  return emulated(body).flatten()[0].template item<double>();
}

// 2048 in the first of four parts, 1 in each further one: 2051 rounds to 2052; added up in half each 1 is lost.
at::Tensor weights() {
  at::Tensor w = at::full({1024}, 1 / 256.0);
  w.narrow(0, 0, 256).fill_(8.0);
  return w;
}

TEST(SplitSums, LoseWhatEachPartIsTooSmallFor) {
  const at::Tensor x = at::ones({1, 1024}), w = weights();
  const auto products = std::vector<std::function<at::Tensor()>>{
      [&] { return at::mm(x, w.view({1024, 1})); },
      [&] { return at::matmul(x, w.view({1024, 1})); },
      [&] { return at::bmm(x.view({1, 1, 1024}), w.view({1, 1024, 1})); },
      [&] { return at::linear(x, w.view({1, 1024})); },
      [&] { return at::linear(x, w.view({1, 1024}), at::zeros({1})); },
      [&] { return at::linear(x.view({1, 1, 1, 1024}), w.view({1, 1024}), at::zeros({1})); },
      [&] { return at::addmm(at::zeros({1, 1}), x, w.view({1024, 1})); },
      [&] { return at::baddbmm(at::zeros({1, 1, 1}), x.view({1, 1, 1024}), w.view({1, 1024, 1})); },
  };
  for (std::size_t i = 0; i < products.size(); ++i) {
    EXPECT_EQ(emulated(false, products[i]), 2052) << i;
    EXPECT_EQ(emulated(true, products[i]), 2048) << i;
  }
}

TEST(SplitSums, OverflowWhereTheSumItselfFits) {
  at::Tensor w = at::full({2048, 1}, 64.0);
  w.narrow(0, 1024, 1024).fill_(-64.0);
  const auto product = [&] { return at::mm(at::ones({1, 2048}), w); };
  EXPECT_EQ(emulated(false, product), 0);
  EXPECT_FALSE(std::isfinite(emulated(true, product)));  // 65536 after four of eight parts
}

TEST(SplitSums, LeaveShortSumsAlone) {
  const at::Tensor w = at::full({511, 1}, 0.37);
  const auto product = [&] { return at::mm(at::full({1, 511}, 1.1), w); };
  EXPECT_EQ(emulated(true, product), emulated(false, product));
}

TEST(SplitSums, ScaleTheProductAndAddTheRest) {
  const auto sum = [&] { return at::addmm(at::full({1, 1}, 10.0), at::ones({1, 1024}), weights().view({1024, 1}), 3, 0.5); };
  EXPECT_EQ(emulated(true, sum), 1054);  // 3 * 10 + 2048 / 2; with all of the sum 1055.5, which rounds to 1056
  EXPECT_EQ(emulated(false, sum), 1056);
}

RunOutcome runOf(std::optional<session::Accumulate> accumulate) {
  session::RunRequest request = tests::requestFor("kinds/LongSum");
  request.settings.decision = {session::DecisionRule::Kind::argmax, {}};
  request.settings.batchSize = 2;
  request.settings.accumulate = accumulate;
  return tests::runOf(request);
}

TEST(Accumulation, TellsBothEndsAndTheDecisionsThatHangOnIt) {
  const RunOutcome strict = runOf(session::Accumulate::strict), pessimistic = runOf(session::Accumulate::pessimistic);
  EXPECT_THAT(strict.run.flips, IsEmpty());
  ASSERT_EQ(pessimistic.run.flips.size(), 1U);
  for (const RunOutcome* outcome : {&strict, &pessimistic}) {
    ASSERT_TRUE(outcome->run.accumulation.has_value());
    EXPECT_THAT(outcome->run.accumulation->depends, ElementsAre("0"));
    ASSERT_EQ(outcome->run.accumulation->outputs.size(), 1U);
  }
  EXPECT_EQ(strict.run.accumulation->flips, 0);
  EXPECT_EQ(strict.run.accumulation->flipsOtherwise, 1);
  EXPECT_EQ(strict.run.accumulation->outputs[0].maxAbs, 1);            // 2052 for 2051
  EXPECT_EQ(strict.run.accumulation->outputs[0].maxAbsOtherwise, 3);   // 2048
  EXPECT_EQ(pessimistic.run.accumulation->outputs[0].maxAbs, 3);
  EXPECT_EQ(pessimistic.run.accumulation->outputs[0].maxAbsOtherwise, 1);
}

TEST(Accumulation, IsNotLookedAtUnlessAskedFor) { EXPECT_FALSE(runOf({}).run.accumulation.has_value()); }

}  // namespace
}  // namespace ulpscope::engine
