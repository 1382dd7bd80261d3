#include "core/session/policy_changes.h"
#include "core/session/session.h"

#include <gmock/gmock.h>

using namespace ulpscope;
using namespace ulpscope::session;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

TEST(PolicyChanges, AreNoneBetweenEqualSettings) {
  RunSettings settings;
  settings.fp32 = {"a", "b"};
  RunSettings other = settings;
  other.fp32 = {"b", "a"};
  EXPECT_THAT(policyChanges(settings, other), IsEmpty()) << "regions are a set";
}

TEST(PolicyChanges, NameWhatCameAndWhatWent) {
  RunSettings from, to;
  from.fp32 = {"a", "b"};
  from.disable = {"x"};
  to.fp32 = {"b", "."};
  to.disable = {"y"};
  EXPECT_THAT(policyChanges(from, to), ElementsAre("+ the whole model in FP32", "- a in FP32", "+ y with autocast off", "- x with autocast off"));
}

TEST(PolicyChanges, NameEachSettingThatDecidesNumbers) {
  RunSettings from, to;
  to.autocast = base::DType::bfloat16;
  to.policyTable = "cuda@1.13";
  to.mode = Mode::native;
  to.castCache = false;
  to.accumulate = Accumulate::pessimistic;
  to.decision = parseDecisionRule("topk:5").value();
  to.onlySamples = {"3", "7"};
  to.observe = Observe::outputs;
  EXPECT_THAT(policyChanges(from, to), ElementsAre("FP16 -> BF16", "policy cuda -> cuda@1.13", "mode emulated -> native", "cast cache on -> off", "accumulation strict -> pessimistic",
                                                   "decision none -> topk:5, tie first", "samples all -> 2 chosen", "observed full -> outputs"));
  from = to;
  to.onlySamples = {"3", "8"};
  EXPECT_THAT(policyChanges(from, to), ElementsAre("other samples"));
}

TEST(PolicyChanges, TakeStrictSumsForUnsaidOnes) {
  RunSettings from, to;
  to.accumulate = Accumulate::strict;
  EXPECT_THAT(policyChanges(from, to), IsEmpty());
}

TEST(SessionDeletions, CountAsTriedAndKeepTheirNumbers) {
  Session session;
  EXPECT_FALSE(session.hasResults());
  EXPECT_EQ(session.lastNumber(), 0);
  EXPECT_EQ(session.firstEver(), nullptr);
  session.runs.resize(1);
  session.runs[0].number = 4;
  RunRecord some;
  some.number = 2;
  some.settings.onlySamples = {"a"};
  session.deleted = {{some, "2026-01-31T14:02:07Z"}};
  session.purged = {{7, true}, {1, false}};
  EXPECT_EQ(session.candidatesTried(), 2) << "run 4 and the purged run 7; the others were over chosen samples";
  EXPECT_EQ(session.candidatesDeleted(), 1);
  EXPECT_EQ(session.lastNumber(), 7);
  EXPECT_EQ(session.firstEver()->number, 2);
  session.runs.clear();
  session.deleted.clear();
  EXPECT_TRUE(session.hasResults());
  EXPECT_EQ(session.latest(), nullptr);
}

}  // namespace
