#include "core/engine/lockstep.h"

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

struct Seen : MeetingObserver {
  std::vector<std::string> log;
  int throwAt = -1, throwAloneAt = -1;
  std::function<void()> onMeet;
  void meet(OpEvent& reference, OpEvent& candidate) override {
    if (throwAt == static_cast<int>(log.size())) throw std::runtime_error("observer broke");
    EXPECT_EQ(reference.index, candidate.index);
    log.push_back(reference.op + "=" + candidate.op);
    if (onMeet) onMeet();
  }
  void alone(Side side, OpEvent& event) override {
    if (throwAloneAt == static_cast<int>(log.size())) throw std::runtime_error("observer broke");
    log.push_back((side == Side::reference ? "reference only " : "candidate only ") + event.op);
  }
};

struct Step {
  ExecutionIndex index;
  std::string op;
};

// One side that only arrives, and fails at the end when told to.
SideFunction stepping(std::vector<Step> steps, bool fails = false) {
  return [steps = std::move(steps), fails](const std::function<void(OpEvent&)>& sink) {
    for (const Step& step : steps) {
      OpEvent event;
      event.index = step.index;
      event.op = step.op;
      sink(event);
    }
    SideResult result;
    result.failed = fails;
    result.error = fails ? "boom" : "";
    return result;
  };
}

TEST(LockStep, MeetsAtEqualIndicesAndLetsTheSmallerGoOnAlone) {
  // A loop (marker -1) that runs three times in the reference and twice in the candidate, then an op after it.
  const std::vector<Step> reference{{{1}, "a"}, {{2, -1, 1, 1}, "b"}, {{2, -1, 2, 1}, "b"}, {{2, -1, 3, 1}, "b"}, {{3}, "c"}};
  const std::vector<Step> candidate{{{1}, "a"}, {{2, -1, 1, 1}, "b"}, {{2, -1, 2, 1}, "b"}, {{3}, "c"}};
  Seen seen;
  const PairResult result = runPair(stepping(reference), stepping(candidate), seen, {});
  EXPECT_FALSE(result.cancelled);
  EXPECT_THAT(seen.log, testing::ElementsAre("a=a", "b=b", "b=b", "reference only b", "c=c"));
}

TEST(LockStep, ABranchTakenByOneRunOnlyIsNoMisalignment) {
  const std::vector<Step> reference{{{1, 0, 1}, "then"}, {{2}, "after"}};
  const std::vector<Step> candidate{{{1, 1, 1}, "else"}, {{2}, "after"}};
  Seen seen;
  runPair(stepping(reference), stepping(candidate), seen, {});
  EXPECT_THAT(seen.log, testing::ElementsAre("reference only then", "candidate only else", "after=after"));
}

TEST(LockStep, ASideThatEndsEarlyLeavesTheOtherFree) {
  Seen seen;
  const PairResult result = runPair(stepping({{{1}, "a"}, {{2}, "b"}, {{3}, "c"}}), stepping({{{1}, "a"}}), seen, {});
  EXPECT_THAT(seen.log, testing::ElementsAre("a=a", "reference only b", "reference only c"));
  EXPECT_FALSE(result.reference.failed);
}

TEST(LockStep, WhatRunsAfterTheOtherSideThrewIsNoOtherWay) {
  Seen seen;
  const PairResult result = runPair(stepping({{{1}, "a"}, {{2}, "b"}, {{3}, "c"}}), stepping({{{1}, "a"}}, /*fails=*/true), seen, {});
  EXPECT_THAT(seen.log, testing::ElementsAre("a=a"));
  EXPECT_TRUE(result.candidate.failed);
  EXPECT_EQ(result.candidate.error, "boom");
  EXPECT_FALSE(result.reference.failed);
}

TEST(LockStep, AnObserverThatThrowsAtALoneOpStopsBothSides) {
  std::vector<Step> many{{{1}, "a"}, {{2, 0, 1}, "then"}};
  for (std::int64_t i = 3; i <= 1000; ++i) many.push_back({{i}, "op"});
  std::vector<Step> other = many;
  other[1] = {{2, 1, 1}, "else"};
  Seen seen;
  seen.throwAloneAt = 1;
  EXPECT_THROW(runPair(stepping(many), stepping(other), seen, {}), std::runtime_error);
  EXPECT_THAT(seen.log, testing::ElementsAre("a=a"));
}

TEST(LockStep, CancelInTheMiddleEndsBothSides) {
  std::vector<Step> many;
  for (std::int64_t i = 1; i <= 100000; ++i) many.push_back({{i}, "op"});
  std::stop_source stop;
  Seen seen;
  seen.onMeet = [&] { if (seen.log.size() == 10) stop.request_stop(); };
  const PairResult result = runPair(stepping(many), stepping(many), seen, stop.get_token());
  EXPECT_TRUE(result.cancelled);
  EXPECT_LE(seen.log.size(), 11U);
}

TEST(LockStep, AnObserverThatThrowsStopsBothSidesAndIsHeard) {
  Seen seen;
  seen.throwAt = 1;
  EXPECT_THROW(runPair(stepping({{{1}, "a"}, {{2}, "b"}, {{3}, "c"}}), stepping({{{1}, "a"}, {{2}, "b"}, {{3}, "c"}}), seen, {}), std::runtime_error);
  EXPECT_THAT(seen.log, testing::ElementsAre("a=a"));
}

}  // namespace
}  // namespace ulpscope::engine
