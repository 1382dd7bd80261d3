// A log and a ledger by hand, as somebody's own loop wrote them.
#include "core/analysis/recorded_training.h"

#include "core/analysis/training_alarms.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace ulpscope;
using analysis::LoopRecord;
using session::Training;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr const char* kHead = R"({"ulpscope_events": 1, "optimizers": ["adam"], "scaler": true, "autocast": true})";
constexpr const char* kLedgerHead = R"({"ulpscope_ledger": 1, "settings": {"torch": "2.6.0", "device": "cuda:0", "autocast": "float16", "model": "Net"}})";

std::string iteration(int number, const std::string& applied) {
  std::string text;
  for (const char* event : {"zero_grad", "autocast_begin", "forward", "autocast_end", "scale", "backward", "step", "update"})
    text += "{\"iteration\": " + std::to_string(number) + ", \"event\": \"" + event + "\"" + (std::string(event) == "step" && !applied.empty() ? ", \"applied\": " + applied : "") + "}\n";
  return text;
}

LoopRecord record(const std::string& events, const std::string& ledger = "", const std::string& head = kHead) {
  const auto log = session::eventLogFromLines(head + "\n" + events);
  EXPECT_TRUE(log.ok()) << log.error().message();
  LoopRecord record{"loop.jsonl", log.value(), {}};
  if (ledger.empty()) return record;
  const auto read = session::ledgerFromLines(std::string(kLedgerHead) + "\n" + ledger);
  EXPECT_TRUE(read.ok()) << read.error().message();
  record.ledger = read.value();
  return record;
}

Training made(const LoopRecord& record) {
  const auto training = analysis::recordedTraining(record);
  EXPECT_TRUE(training.ok()) << training.error().message();
  return training ? training.value() : Training{};
}

TEST(RecordedTraining, HasWhatTheLedgerHasAndSaysWhatItLacks) {
  const Training t = made(record(iteration(0, "true") + iteration(1, "false"),
                                 R"({"step": 0, "loss": 2.5, "scale_before": 8, "scale_after": 8, "grad_norm": 1.5, "lr": 0.1, "applied_updates": 1})" "\n"
                                 R"({"step": 1, "loss": "NaN", "scale_before": 8, "scale_after": 4, "lr": 0.1, "applied_updates": 1})"));
  ASSERT_EQ(t.runs.size(), 1U);
  const session::Trajectory& run = t.runs.front();
  ASSERT_EQ(run.ledger.size(), 2U);
  EXPECT_EQ(run.ledger[0].optimizer, "adam");
  EXPECT_EQ(run.ledger[0].loss, 2.5);
  EXPECT_TRUE(run.ledger[0].applied && !run.ledger[0].skipped) << "as the log says";
  EXPECT_TRUE(run.ledger[1].skipped && !run.ledger[1].applied);
  EXPECT_TRUE(run.ledger[1].has("loss")) << "NaN was recorded";
  EXPECT_TRUE(run.ledger[0].has("grad_norm") && !run.ledger[1].has("grad_norm"));
  EXPECT_FALSE(run.ledger[0].has("zero_share"));
  EXPECT_TRUE(std::isnan(run.ledger[0].zeroShare));
  EXPECT_EQ(run.steps, 2);
  EXPECT_EQ(run.appliedUpdates, 1);
  EXPECT_EQ(run.finalScale, 4);
  EXPECT_EQ(t.recorded->setting("device"), "cuda:0");
  EXPECT_EQ(t.libtorchVersion, "2.6.0");
  ASSERT_EQ(t.warnings.size(), 1U);
  EXPECT_THAT(t.warnings.front(), HasSubstr("not recorded: scaled_norm, clipped_norm, zero_share"));
  EXPECT_THAT(t.warnings.front(), testing::Not(HasSubstr("grad_norm"))) << "one line has it";
}

TEST(RecordedTraining, ComesBackFromItsJsonAsItWas) {
  const Training before = made(record(iteration(0, "true"), R"({"step": 0, "loss": "+inf"})"));
  const nlohmann::json json = session::toJson(before);
  EXPECT_TRUE(json.at("runs")[0].at("ledger")[0].at("zero_share").is_null());
  EXPECT_EQ(json.at("runs")[0].at("ledger")[0].at("loss"), "+inf");
  EXPECT_TRUE(json.at("runs")[0].at("final_scale").is_null());
  const Training after = session::trainingFromJson(nlohmann::json::parse(json.dump()));
  EXPECT_EQ(session::toJson(after), json);
  EXPECT_EQ(after.runs.front().ledger.front().unrecorded, before.runs.front().ledger.front().unrecorded);
}

TEST(RecordedTraining, WithoutALedgerKnowsTheCallsAlone) {
  const Training t = made(record(iteration(0, "true") + iteration(1, "")));
  const session::Trajectory& run = t.runs.front();
  EXPECT_TRUE(run.ledger[0].has("applied") && !run.ledger[1].has("applied"));
  EXPECT_FALSE(run.recordsAny("loss") || run.recordsAny("scale_after") || run.recordsAny("lr"));
  EXPECT_THAT(t.warnings, ElementsAre(HasSubstr("no ledger")));
  EXPECT_FALSE(t.recorded->hasLedger);
}

TEST(RecordedTraining, WithoutAScalerHasTheScaleOfOne) {
  const Training t = made(record(R"({"iteration": 0, "event": "forward"})" "\n" R"({"iteration": 0, "event": "backward"})" "\n" R"({"iteration": 0, "event": "step", "applied": true})" "\n"
                                 R"({"iteration": 0, "event": "zero_grad"})", R"({"step": 0, "loss": 1})", R"({"ulpscope_events": 1, "optimizers": ["sgd"], "scaler": false, "autocast": false})"));
  EXPECT_EQ(t.runs.front().ledger.front().scaleBefore, 1);
  EXPECT_TRUE(t.runs.front().ledger.front().has("scale_after") && t.runs.front().ledger.front().has("growth_tracker"));
  EXPECT_THAT(t.runs.front().violations, IsEmpty());
  EXPECT_FALSE(t.runs.front().autocast || t.runs.front().scaling);
}

TEST(RecordedTraining, RaisesNoAlarmByWhatWasNotRecorded) {
  const Training silent = made(record(iteration(0, "true") + iteration(1, "true"), R"({"step": 0, "lr": 1})" "\n" R"({"step": 1, "lr": 1})"));
  EXPECT_THAT(silent.runs.front().alarms, IsEmpty()) << "its losses and scales stand as NaN";
  std::string events, ledger;
  for (int i = 0; i < 25; ++i) events += iteration(i, "");
  for (int i = 0; i < 25; ++i) ledger += "{\"step\": " + std::to_string(i) + ", \"loss\": 1}\n";
  EXPECT_THAT(made(record(events, ledger)).runs.front().alarms, IsEmpty()) << "whether they were applied is not known";
  const Training loud = made(record(iteration(0, "true"), R"({"step": 0, "loss": "NaN", "scale_after": 0.5, "applied": true})"));
  ASSERT_EQ(loud.runs.front().alarms.size(), 2U);
  EXPECT_EQ(loud.runs.front().alarms[0].id, "scale_below_1");
  EXPECT_EQ(loud.runs.front().alarms[1].id, "nonfinite_loss_applied");
}

TEST(RecordedTraining, HasTheOrdersViolations) {
  const Training t = made(record(R"({"iteration": 0, "event": "autocast_begin"})" "\n" R"({"iteration": 0, "event": "forward"})" "\n" R"({"iteration": 0, "event": "scale"})" "\n"
                                 R"({"iteration": 0, "event": "backward"})" "\n" R"({"iteration": 0, "event": "step"})" "\n" R"({"iteration": 0, "event": "update"})" "\n" R"({"iteration": 0, "event": "zero_grad"})"));
  ASSERT_EQ(t.runs.front().violations.size(), 1U);
  EXPECT_EQ(t.runs.front().violations.front().rule, "backward_in_autocast");
}

TEST(RecordedTraining, RefusesWhatIsNotOfOneLoop) {
  const auto error = [](const LoopRecord& record) { return analysis::recordedTraining(record).error(); };
  EXPECT_THAT(error(record(iteration(0, "true"), R"({"step": 1, "loss": 1})")).message(), HasSubstr("no step of the optimizer in iteration 1"));
  EXPECT_THAT(error(record(iteration(0, "true"), R"({"step": 0, "applied": false})")).message(), HasSubstr("says of iteration 0 that the step was applied, the ledger the reverse"));
  EXPECT_THAT(error(record(R"({"iteration": 0, "event": "forward"})")).message(), HasSubstr("no step of an optimizer"));
  EXPECT_EQ(error(record(iteration(0, "true"), R"({"step": 1, "loss": 1})")).kind, base::ErrorKind::input);
}

}  // namespace
