// Two hand-made records of one training, and what a checkpoint can forget, one state at a time.
#include "core/analysis/ledger_audit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

using namespace ulpscope;
using analysis::LedgerAudit;
using session::LedgerState;
using session::LedgerValue;
using session::RecordedTraining;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

bool isText(LedgerState state) { return state <= LedgerState::optimizerState; }

// Every state recorded, each another in each step.
RecordedTraining record(std::int64_t first, std::int64_t last, const std::vector<std::string>& optimizers = {"adam"}) {
  RecordedTraining training;
  for (std::int64_t step = first; step <= last; ++step)
    for (const std::string& optimizer : optimizers) {
      training.lines.push_back({step, optimizer, {}});
      for (const LedgerState state : session::ledgerStates())
        training.lines.back().values[state] = isText(state) ? LedgerValue("d" + std::to_string(step)) : LedgerValue(static_cast<double>(step) + 0.5);
      for (const LedgerState flag : {LedgerState::foundInf, LedgerState::skipped, LedgerState::applied}) training.lines.back().values[flag] = 0.0;
    }
  return training;
}

LedgerAudit audited(const RecordedTraining& uninterrupted, const RecordedTraining& resumed) {
  const auto audit = analysis::auditLedgers({uninterrupted, resumed});
  EXPECT_TRUE(audit.ok()) << audit.error().message();
  return audit ? audit.value() : LedgerAudit{};
}

// Changes `state` from `step` on.
void part(RecordedTraining& training, LedgerState state, std::int64_t step, const std::string& optimizer = "") {
  for (auto& line : training.lines)
    if (line.step >= step && (optimizer.empty() || line.optimizer == optimizer)) {
      LedgerValue& value = line.values[state];
      if (isText(state)) value = "other";
      else value = std::get<double>(value) + 1;
    }
}
void forget(RecordedTraining& training, std::initializer_list<LedgerState> states) {
  for (auto& line : training.lines)
    for (const LedgerState state : states) line.values.erase(state);
}

// 40 steps of 0 to 59 done, then `state` differs from `step` on.
LedgerAudit parting(LedgerState state, std::int64_t step, std::initializer_list<LedgerState> unrecorded = {}) {
  RecordedTraining resumed = record(40, 59);
  part(resumed, state, step);
  forget(resumed, unrecorded);
  return audited(record(0, 59), resumed);
}
std::string meaning(LedgerState state, std::int64_t step, std::initializer_list<LedgerState> unrecorded = {}) {
  const LedgerAudit audit = parting(state, step, unrecorded);
  if (!audit.first) return "none";
  EXPECT_EQ(audit.first->state, state);
  EXPECT_EQ(audit.first->step, step);
  return audit.first->meaning;
}

TEST(LedgerAudit, FindsNothingBetweenEqualRecords) {
  const LedgerAudit audit = audited(record(0, 59), record(40, 59));
  EXPECT_FALSE(audit.first.has_value());
  EXPECT_EQ(audit.steps, 20);
  EXPECT_EQ(audit.firstStep, 40);
  EXPECT_EQ(audit.lastStep, 59);
  EXPECT_FALSE(audit.bothBeginAtZero);
  for (const auto& state : audit.states) EXPECT_EQ(state.compared, 20) << session::name(state.state);
}

TEST(LedgerAudit, NamesWhatTheCheckpointForgot) {
  using enum LedgerState;
  EXPECT_THAT(meaning(rows, 40), HasSubstr("data position was not restored"));
  EXPECT_THAT(meaning(rows, 50), HasSubstr("sampler's generator"));
  EXPECT_THAT(meaning(rng, 40), HasSubstr("random states were not restored"));
  EXPECT_THAT(meaning(rng, 50), HasSubstr("another number of random values"));
  EXPECT_THAT(meaning(weights, 40), HasSubstr("save model.state_dict() after update()"));
  EXPECT_THAT(meaning(buffers, 40), HasSubstr("running statistics"));
  EXPECT_THAT(meaning(buffers, 41), HasSubstr("model.train()"));
  EXPECT_THAT(meaning(optimizerState, 40), HasSubstr("save and load optimizer.state_dict()"));
  EXPECT_THAT(meaning(scaleBefore, 40), HasSubstr("saved without GradScaler.state_dict()"));
  EXPECT_THAT(meaning(scaleBefore, 45), HasSubstr("growth tracker"));
  EXPECT_THAT(meaning(growthTracker, 40), HasSubstr("not the scale alone"));
  EXPECT_THAT(meaning(lr, 40, {schedulerSteps}), HasSubstr("save and load scheduler.state_dict()"));
  EXPECT_THAT(meaning(lr, 40), HasSubstr("count agrees but not the rate"));
  EXPECT_THAT(meaning(lr, 45), HasSubstr("schedules part here"));
  EXPECT_THAT(meaning(gradNorm, 40), HasSubstr("unfinished accumulation"));
  EXPECT_THAT(meaning(clippedNorm, 40), HasSubstr("clip's settings"));
  EXPECT_THAT(meaning(skipped, 40), HasSubstr("skipped an update"));
  EXPECT_THAT(meaning(applied, 40), HasSubstr("skipped an update"));
  EXPECT_THAT(meaning(updateNorm, 40, {optimizerState}), HasSubstr("optimizer.state_dict()"));
  EXPECT_THAT(meaning(updateNorm, 40), HasSubstr("compare the optimizers' settings")) << "the moments agree";
  EXPECT_THAT(meaning(scaleAfter, 40), HasSubstr("growth tracker"));
  EXPECT_THAT(meaning(schedulerSteps, 40), HasSubstr("save and load scheduler.state_dict()"));
  for (const LedgerState state : session::ledgerStates()) {
    if (state == appliedUpdates) continue;  // may be counted from the resume
    EXPECT_THAT(meaning(state, 40), HasSubstr(": ")) << session::name(state) << " says what it means and what to do";
    EXPECT_THAT(meaning(state, 50), HasSubstr(": ")) << session::name(state);
  }
}

TEST(LedgerAudit, TellsMissingMomentsByTheSecondStep) {
  using enum LedgerState;
  EXPECT_THAT(meaning(loss, 41, {optimizerState, updateNorm, weights}), HasSubstr("the first step after the resume agrees and the second does not: the optimizer's moments"));
  EXPECT_THAT(meaning(weights, 41, {optimizerState, updateNorm}), HasSubstr("optimizer's moments"));
  EXPECT_THAT(meaning(loss, 41, {optimizerState, weights}), HasSubstr("(weights, optimizer_state)")) << "the update's norm agreed";
  EXPECT_THAT(meaning(loss, 50, {optimizerState, updateNorm}), testing::Not(HasSubstr("second")));
}

TEST(LedgerAudit, TellsLastBitsOfALossFromMore) {
  RecordedTraining a = record(0, 9), b = record(5, 9);
  const auto withLoss = [&](double inA, double inB) {
    a.lines[5].values[LedgerState::loss] = inA;
    b.lines[0].values[LedgerState::loss] = inB;
    return audited(a, b);
  };
  const LedgerAudit bits = withLoss(0.5, 0.5 + 0x1p-25);
  ASSERT_TRUE(bits.first.has_value());
  EXPECT_THAT(bits.first->meaning, HasSubstr("in its last bits (by 5.96e-08 of its value): the arithmetic is not deterministic")) << "2^-25 / (0.5 + 2^-25) = 5.96e-8";
  EXPECT_EQ(bits.states[static_cast<std::size_t>(LedgerState::loss)].largest, 0x1p-25);
  EXPECT_THAT(withLoss(0.5, 0.625).first->meaning, HasSubstr("far beyond its last bits"));
  EXPECT_THAT(withLoss(-1, -1 - 9e-7).first->meaning, HasSubstr("in its last bits"));
  EXPECT_THAT(withLoss(-1, -1 - 1.1e-6).first->meaning, HasSubstr("far beyond")) << "the limit is 1e-6 of the value";
  EXPECT_THAT(withLoss(0, 1e-9).first->meaning, HasSubstr("far beyond")) << "any number is far from zero by its own measure";
  EXPECT_FALSE(withLoss(kNan, -kNan).first.has_value()) << "a NaN is a NaN's equal";
  EXPECT_FALSE(withLoss(kInf, kInf).first.has_value());
  EXPECT_TRUE(withLoss(0.0, -0.0).first.has_value()) << "bits, not values";
  const LedgerAudit nan = withLoss(1, kNan);
  EXPECT_EQ(nan.first->resumed, "NaN");
  EXPECT_TRUE(std::isinf(nan.states[static_cast<std::size_t>(LedgerState::loss)].largest));
  EXPECT_TRUE(withLoss(kInf, -kInf).first.has_value());
}

TEST(LedgerAudit, NamesTheCauseBeforeItsEffects) {
  RecordedTraining resumed = record(40, 59, {"a", "b"});
  for (const LedgerState state : {LedgerState::scaledNorm, LedgerState::scaleAfter, LedgerState::loss}) part(resumed, state, 40);
  part(resumed, LedgerState::scaleBefore, 40, "b");
  const LedgerAudit audit = audited(record(0, 59, {"a", "b"}), resumed);
  EXPECT_EQ(audit.first->state, LedgerState::scaleBefore);
  EXPECT_EQ(audit.first->optimizer, "") << "the scaler is everyone's";
  EXPECT_EQ(audit.first->uninterrupted, "40.5");
  EXPECT_EQ(audit.first->resumed, "41.5");
  EXPECT_THAT(audit.first->further, ElementsAre(LedgerState::loss, LedgerState::scaledNorm, LedgerState::scaleAfter));
}

TEST(LedgerAudit, NamesTheOptimizerWhoseStateDiffers) {
  RecordedTraining resumed = record(40, 59, {"a", "b"});
  part(resumed, LedgerState::optimizerState, 40, "b");
  const LedgerAudit audit = audited(record(0, 59, {"a", "b"}), resumed);
  EXPECT_EQ(audit.first->optimizer, "b");
  EXPECT_EQ(audit.states[static_cast<std::size_t>(LedgerState::optimizerState)].different, 20) << "of 40 lines";
}

TEST(LedgerAudit, TakesTheSchedulersCountForACauseOnlyWhereTheUpdatesAgree) {
  RecordedTraining resumed = record(40, 59);
  part(resumed, LedgerState::schedulerSteps, 40);
  part(resumed, LedgerState::loss, 40);
  EXPECT_EQ(audited(record(0, 59), resumed).first->state, LedgerState::schedulerSteps);
  part(resumed, LedgerState::skipped, 40);
  EXPECT_EQ(audited(record(0, 59), resumed).first->state, LedgerState::loss) << "a skipped step does not step the scheduler";
}

TEST(LedgerAudit, TakesTheGrowthTrackerForACauseOnlyWhereTheUpdatesAgree) {
  RecordedTraining resumed = record(40, 59);
  part(resumed, LedgerState::growthTracker, 40);
  part(resumed, LedgerState::gradNorm, 40);
  EXPECT_EQ(audited(record(0, 59), resumed).first->state, LedgerState::growthTracker);
  part(resumed, LedgerState::applied, 40);
  EXPECT_EQ(audited(record(0, 59), resumed).first->state, LedgerState::gradNorm) << "a skipped step sets it back";
}

TEST(LedgerAudit, CountsAppliedUpdatesFromTheFirstComparedStep) {
  RecordedTraining resumed = record(40, 59);
  part(resumed, LedgerState::appliedUpdates, 0);
  EXPECT_FALSE(audited(record(0, 59), resumed).first.has_value());
  part(resumed, LedgerState::appliedUpdates, 50);
  EXPECT_EQ(audited(record(0, 59), resumed).first->step, 50);
}

TEST(LedgerAudit, KnowsWhereTheRunWasTakenUpAgain) {
  RecordedTraining resumed = record(0, 59);
  EXPECT_TRUE(audited(record(0, 59), resumed).bothBeginAtZero);
  resumed.resumedAt = 40;
  part(resumed, LedgerState::scaleBefore, 40);
  const LedgerAudit audit = audited(record(0, 59), resumed);
  EXPECT_THAT(audit.first->meaning, HasSubstr("saved without GradScaler.state_dict()"));
  EXPECT_FALSE(audit.bothBeginAtZero);
  part(resumed, LedgerState::loss, 30);
  EXPECT_THAT(audited(record(0, 59), resumed).first->meaning, HasSubstr("the runs part before the resume"));
}

TEST(LedgerAudit, NeverCallsEqualWhatOneDidNotRecord) {
  RecordedTraining uninterrupted = record(0, 59), resumed = record(40, 59);
  forget(resumed, {LedgerState::rng});
  forget(uninterrupted, {LedgerState::rng, LedgerState::weights});
  resumed.lines[3].values.erase(LedgerState::loss);
  const auto states = audited(uninterrupted, resumed).states;
  const auto& rng = states[static_cast<std::size_t>(LedgerState::rng)];
  EXPECT_EQ(rng.compared, 0);
  EXPECT_FALSE(rng.inResumed || rng.inUninterrupted);
  EXPECT_TRUE(states[static_cast<std::size_t>(LedgerState::weights)].inResumed);
  EXPECT_EQ(states[static_cast<std::size_t>(LedgerState::weights)].compared, 0);
  EXPECT_EQ(states[static_cast<std::size_t>(LedgerState::loss)].compared, 19);
}

TEST(LedgerAudit, RefusesRecordsWithNothingInCommon) {
  const auto says = [](const RecordedTraining& a, const RecordedTraining& b) {
    const auto audit = analysis::auditLedgers({a, b});
    return audit ? "audited" : audit.error().message();
  };
  EXPECT_THAT(says(record(0, 9), record(10, 19)), HasSubstr("no step of one optimizer in common: uninterrupted 0 to 9, resumed 10 to 19"));
  EXPECT_THAT(says(record(0, 9), {}), HasSubstr("resumed none"));
  EXPECT_THAT(says(record(0, 9, {"a"}), record(0, 9, {"b"})), HasSubstr("name the optimizers alike"));
  RecordedTraining bare = record(0, 9);
  for (auto& line : bare.lines) line.values.clear();
  EXPECT_THAT(says(bare, record(5, 9)), HasSubstr("no state in common"));
  EXPECT_EQ(analysis::auditLedgers({bare, bare}).error().kind, base::ErrorKind::inconclusive);
}

TEST(LedgerAudit, NamesSettingsOptimizersAndStepsThatDiffer) {
  RecordedTraining uninterrupted = record(0, 9, {"a", "b"}), resumed = record(5, 9, {"a", "c"});
  uninterrupted.settings = {{"lr", "0.1"}, {"torch", "2.6"}, {"only", "here"}};
  uninterrupted.recipe.emplace().clip = session::ClipRecipe{0.5, false, std::nullopt};
  uninterrupted.recipe->batchSize = 8;
  resumed.settings = {{"lr", "0.2"}, {"torch", "2.6"}};
  resumed.recipe.emplace().steps = 900;
  resumed.lines.erase(resumed.lines.begin() + 4, resumed.lines.begin() + 6);
  const LedgerAudit audit = audited(uninterrupted, resumed);
  ASSERT_EQ(audit.settings.size(), 3U);
  EXPECT_EQ(audit.settings[0].key + audit.settings[0].resumed, "lr0.2");
  EXPECT_EQ(audit.settings[1].key + " " + audit.settings[1].uninterrupted + " " + audit.settings[1].resumed, "recipe, batch_size 8 32");
  EXPECT_EQ(audit.settings[2].key + " " + audit.settings[2].resumed, "recipe, clip not there") << "how many steps were asked for is no difference";
  EXPECT_THAT(audit.unmatchedOptimizers, ElementsAre("b", "c"));
  EXPECT_EQ(audit.steps, 4);
  EXPECT_EQ(audit.onlyUninterrupted, 1) << "step 7";
  EXPECT_EQ(audit.onlyResumed, 0);
}

}  // namespace
