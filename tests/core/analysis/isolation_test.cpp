// Sentences that a table of trajectories is worth.
#include "core/analysis/isolation.h"

#include <gmock/gmock.h>

#include <limits>

using namespace ulpscope;
using session::Trajectory;
using session::Training;
using testing::HasSubstr;

namespace {

Trajectory run(const std::string& name, bool autocast, bool scaling, bool trouble) {
  Trajectory t;
  t.name = name;
  t.autocast = autocast;
  t.scaling = scaling;
  session::LedgerLine line;
  line.applied = true;
  t.ledger = {line};
  if (trouble) t.alarms = {{"no_update", 0, ""}};
  return t;
}

// Which of the cells off/off, on/off, off/on, on/on are in trouble; the recipe is on/on.
std::string says(bool none, bool autocast, bool scaling, bool both) {
  Training t;
  t.runs = {run("recipe", true, true, both), run("fp32", false, false, none), run("autocast off, scaling on", false, true, scaling), run("autocast on, scaling off", true, false, autocast)};
  return analysis::isolationText(t);
}

TEST(Isolation, NamesWhichOfTheTwoBreaksIt) {
  EXPECT_EQ(says(false, false, false, false), "neither autocast nor scaling breaks it");
  EXPECT_THAT(says(false, true, false, true), HasSubstr("autocast breaks it, with scaling and without"));
  EXPECT_THAT(says(false, false, true, true), HasSubstr("scaling breaks it, in FP32 as well"));
  EXPECT_THAT(says(false, false, false, true), HasSubstr("only both together"));
  EXPECT_THAT(says(false, true, false, false), HasSubstr("autocast needs scaling"));
  EXPECT_THAT(says(false, false, true, false), HasSubstr("scaling breaks it in FP32"));
  EXPECT_THAT(says(false, true, true, true), HasSubstr("both break it"));
  EXPECT_THAT(says(false, true, true, false), HasSubstr("both together do not"));
  EXPECT_THAT(says(true, true, true, true), HasSubstr("no matter of mixed precision"));
}

TEST(Isolation, NeedsAllFourCells) {
  Training t;
  t.runs = {run("recipe", true, true, true), run("fp32", false, false, false)};
  EXPECT_EQ(analysis::isolationText(t), "");
}

TEST(Isolation, SaysWhetherRegionsCure) {
  Training t;
  t.runs = {run("recipe", true, true, false), run("fp32", false, false, false), run("autocast off, scaling on", false, true, false), run("a", true, false, true), run("b", true, true, true)};
  t.runs[0].fp32 = {"head"};
  EXPECT_THAT(analysis::isolationText(t), HasSubstr("autocast breaks it, with scaling and without; scaling alone does not; the recipe's FP32 regions cure it"));
  t.runs[0].alarms = {{"no_update", 0, ""}};
  EXPECT_THAT(analysis::isolationText(t), HasSubstr("do not cure it"));
}

Trajectory skipping(std::int64_t skips, std::int64_t steps) {
  Trajectory t = run("recipe", true, true, false);
  t.ledger.clear();
  for (std::int64_t step = 0; step < steps; ++step) {
    session::LedgerLine line;
    line.step = step;
    line.skipped = step < skips;
    line.applied = !line.skipped;
    t.ledger.push_back(line);
  }
  t.finalScale = 8192;
  return t;
}

TEST(Settled, OfSkipsThatEndInTheFirstHalf) {
  EXPECT_EQ(analysis::settledText(skipping(4, 20)), "the scale found its level, 8192, after step 3: skips while it does are harmless");
  EXPECT_EQ(analysis::settledText(skipping(0, 20)), "") << "nothing to explain";
  EXPECT_EQ(analysis::settledText(skipping(11, 20)), "") << "too long to be harmless";
  EXPECT_EQ(analysis::settledText(skipping(4, 8)), "") << "too few steps since to say so";
  Trajectory unscaled = skipping(4, 20);
  unscaled.scaling = false;
  EXPECT_EQ(analysis::settledText(unscaled), "");
}

TEST(Settled, SkipsInARowAreNoTroubleThen) {
  Trajectory t = skipping(6, 40);
  t.alarms = {{"skips_in_a_row", 4, ""}};
  EXPECT_FALSE(analysis::inTrouble(t));
  t = skipping(30, 40);
  t.alarms = {{"skips_in_a_row", 4, ""}};
  EXPECT_TRUE(analysis::inTrouble(t));
  Trajectory nan = skipping(0, 4);
  nan.ledger.back().loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(analysis::inTrouble(nan));
}

}  // namespace
