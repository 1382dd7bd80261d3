#include "core/analysis/training_verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace ulpscope;
using session::JudgedAs;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

session::Trajectory trajectory(const std::string& name, int steps, int skipped, double finalLoss) {
  session::Trajectory run;
  run.name = name;
  run.steps = steps;
  for (int i = 0; i < steps; ++i) {
    session::LedgerLine line;
    line.step = i;
    line.skipped = i < skipped;
    line.applied = !line.skipped;
    line.loss = finalLoss;
    run.ledger.push_back(line);
  }
  run.appliedUpdates = steps - skipped;
  return run;
}

class TrainingVerdict : public testing::Test {
 protected:
  TrainingVerdict() { m_training.runs = {trajectory("recipe", 10, 2, 1.5), trajectory("fp32", 10, 0, 1.25)}; }
  session::CriterionResult only() {
    const auto verdict = analysis::judgeTraining(m_recipe, m_training);
    EXPECT_TRUE(verdict.has_value());
    EXPECT_EQ(verdict->criteria.size(), 1U);
    m_status = verdict->status;
    m_reason = verdict->reason;
    return verdict->criteria.front();
  }
  session::Recipe m_recipe;
  session::Training m_training;
  JudgedAs m_status = JudgedAs::notEvaluated;
  std::string m_reason;
};

TEST_F(TrainingVerdict, IsNoneWithoutCriteria) { EXPECT_FALSE(analysis::judgeTraining(m_recipe, m_training).has_value()); }

TEST_F(TrainingVerdict, CountsSkippedSteps) {
  m_recipe.criteria.maxSkipRate = 0.2;
  EXPECT_EQ(only().measured, 0.2) << "2 of 10";
  EXPECT_EQ(m_status, JudgedAs::pass) << "a limit is met where it is reached";
  m_recipe.criteria.maxSkipRate = 0.19;
  EXPECT_EQ(only().status, JudgedAs::fail);
  m_recipe.criteria.maxSkipRate = 0;
  EXPECT_TRUE(std::isinf(only().ratio));
  m_training.runs[0].ledger.clear();
  EXPECT_EQ(only().status, JudgedAs::notEvaluated);
}

TEST_F(TrainingVerdict, AsksForAppliedUpdates) {
  m_recipe.criteria.minAppliedUpdates = 8;
  EXPECT_EQ(only().status, JudgedAs::pass);
  m_recipe.criteria.minAppliedUpdates = 9;
  EXPECT_EQ(only().status, JudgedAs::fail);
  EXPECT_DOUBLE_EQ(only().ratio, 9.0 / 8.0);
}

// Two optimizers, of which one skips 8 of 10 and the other none: together they would be at 0.4.
TEST_F(TrainingVerdict, JudgesTheOptimizerThatIsWorst) {
  session::Trajectory& run = m_training.runs[0];
  const auto lines = run.ledger;
  run.ledger.clear();
  for (int i = 0; i < 10; ++i)
    for (const char* name : {"calm", "loud"}) {
      session::LedgerLine line;
      line.step = i;
      line.optimizer = name;
      line.skipped = name == std::string("loud") && i < 8;
      line.applied = !line.skipped;
      run.ledger.push_back(line);
    }
  m_recipe.criteria.maxSkipRate = 0.5;
  EXPECT_EQ(only().measured, 0.8);
  EXPECT_EQ(m_status, JudgedAs::fail);
  m_recipe.criteria = {};
  m_recipe.criteria.minAppliedUpdates = 3;
  EXPECT_EQ(only().measured, 2);
}

TEST_F(TrainingVerdict, IsNoneOfAmpWhereFp32IsNoMeasureOrNothingWasLowered) {
  m_recipe.criteria.maxSkipRate = 1;
  m_training.runs[0].alarms = {{"fp32_nonfinite", 3, ""}};
  EXPECT_EQ(only().status, JudgedAs::pass) << "of the criterion alone";
  EXPECT_EQ(m_status, JudgedAs::notEvaluated);
  EXPECT_EQ(m_reason, "FP32 itself is not finite");
  m_training.runs[0].alarms = {{"nothing_autocast", 0, ""}};
  only();
  EXPECT_EQ(m_status, JudgedAs::notEvaluated);
  m_training.runs[0].alarms.clear();
  m_training.runs[0].error = m_training.runs[1].error = "a label is wrong";
  m_training.runs[0].failed = m_training.runs[1].failed = true;
  only();
  EXPECT_EQ(m_reason, "FP32 could not run either: a label is wrong");
}

TEST_F(TrainingVerdict, NamesTheExperimentalChange) {
  m_recipe.criteria.maxSkipRate = 1;
  m_training.resumes = {{4, "step-00000004.h5", "", "bf16 from here", {{"autocast.dtype", "a", "b"}}}};
  only();
  EXPECT_EQ(m_status, JudgedAs::pass);
  EXPECT_EQ(m_reason, "with the experimental change 'bf16 from here' from step 4");
}

TEST_F(TrainingVerdict, HoldsTheLossAgainstFp32) {
  m_recipe.criteria.maxFinalLossIncrease = 0.25;
  EXPECT_EQ(only().measured, 0.25);
  EXPECT_EQ(m_status, JudgedAs::pass);
  m_training.runs[0].ledger.back().loss = kNan;
  EXPECT_EQ(only().status, JudgedAs::fail) << "NaN is no good loss";
  m_training.runs[0].ledger.back().loss = 1;
  EXPECT_EQ(only().status, JudgedAs::pass) << "better than FP32";
  m_training.runs[1].ledger.back().loss = kNan;
  EXPECT_EQ(only().status, JudgedAs::notEvaluated) << "FP32 is no baseline";
  m_training.runs.pop_back();
  EXPECT_EQ(only().status, JudgedAs::notEvaluated);
}

TEST_F(TrainingVerdict, HoldsTheAccuracyAgainstFp32) {
  m_recipe.criteria.maxAccuracyDrop = 0.005;
  EXPECT_EQ(only().status, JudgedAs::notEvaluated);
  m_training.runs[0].accuracy = 0.990;
  m_training.runs[1].accuracy = 0.994;
  EXPECT_NEAR(only().measured, 0.004, 1e-12);
  EXPECT_EQ(m_status, JudgedAs::pass);
  m_training.runs[0].accuracy = 0.98;
  EXPECT_EQ(only().status, JudgedAs::fail);
}

TEST_F(TrainingVerdict, FailsWithAnAlarmOrAnEarlyEnd) {
  m_recipe.criteria.noAlarm = true;
  EXPECT_EQ(only().status, JudgedAs::pass);
  m_training.cancelled = true;
  only();
  EXPECT_EQ(m_status, JudgedAs::notEvaluated);
  m_training.cancelled = false;
  m_training.runs[0].error = "the loss is NaN";
  only();
  EXPECT_EQ(m_status, JudgedAs::fail);
  EXPECT_EQ(m_reason, "the training ended early: the loss is NaN");
  m_training.runs[0].error.clear();
  m_training.runs[0].alarms = {{"scale_below_1", 3, "x"}};
  EXPECT_EQ(only().status, JudgedAs::fail);
}

}  // namespace
