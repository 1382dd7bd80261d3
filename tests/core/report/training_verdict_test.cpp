#include "core/report/training_verdict_text.h"
#include "core/session/training_lock.h"
#include "tests/core/report/schema_validator.h"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>

using namespace ulpscope;
using nlohmann::json;
using session::CriteriaRevision;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

json schema() {
  std::ifstream file(ULPSCOPE_TRAINING_SCHEMA);
  return json::parse(file);
}

const std::vector<CriteriaRevision>& locked() {
  static const std::vector<CriteriaRevision> revisions = [] {
    auto first = session::agreedCriteria({}, {R"({"max_skip_rate":0.1})", ""}, /*trainingsKnown=*/false).value();
    return session::agreedCriteria(first, {R"({"max_skip_rate":0.8})", "a guess"}, /*trainingsKnown=*/true).value();
  }();
  return revisions;
}

// Everything that a record can have, NaN and inf among it.
session::Training training() {
  session::LedgerLine line;
  line.optimizer = "sgd";
  line.loss = std::numeric_limits<double>::quiet_NaN();
  line.scaledNorm = std::numeric_limits<double>::infinity();
  line.firstNonfinite = session::FirstNonfinite{0, "gradient", "aten::linear", "layer", "model.py:7", 1, "layer.bias", "inf"};
  session::Trajectory run;
  run.name = "recipe";
  run.ledger = {line};
  run.steps = 1;
  run.accuracy = 0.5;
  run.parameters = {{"layer.weight", "sgd", false, {0.5F}, {0}, {0}}, {"head", "sgd", true, {}, {}, {}}};
  run.gradientSites = {{"aten::linear", "layer", "model.py:7", 1, line.loss, 1, 2, 0, 0}};
  run.violations = {{0, "clip", "clip_before_unscale", "sgd", "clips"}};
  run.alarms = {{"scale_below_1", 0, "the scale fell below 1"}};
  run.firstNonfinite = line.firstNonfinite;
  session::Training t;
  t.number = 2;
  t.runs = {run, run};
  t.checkpoints = {{40, "step-00000040.h5", "5a", true}};
  t.resumes = {{40, "step-00000040.h5", "5a", "BF16", {{"autocast, dtype", "float16", "bfloat16"}}}};
  t.rollback = session::RollbackRecord{47, 40, "max_loss", "loss 9", "step-00000040.h5", "case-00000047.json"};
  session::Verdict& verdict = t.verdict.emplace();
  verdict.status = session::JudgedAs::pass;
  verdict.criteria = {{"skip_rate", 0.75, 0.8, 0.9375, "", session::JudgedAs::pass, ""}};
  verdict.revision = 2;
  verdict.sha256 = locked()[1].sha256;
  return t;
}

TEST(TrainingVerdict, SaysWhichCriteriaAndThatTheyWereRevised) {
  const std::string text = report::trainingVerdictText(training(), locked());
  EXPECT_THAT(text, HasSubstr("VERDICT pass\n  criteria revision 2 of the session, SHA-256 " + locked()[1].sha256.substr(0, 12) + ", revised after results: a guess\n"));
  EXPECT_THAT(text, HasSubstr("skip_rate"));
  session::Training first = training();
  first.verdict->revision = 1;
  first.verdict->sha256 = locked()[0].sha256;
  EXPECT_THAT(report::trainingCriteriaLine(first, locked()), Not(HasSubstr("results")));
  EXPECT_THAT(report::trainingCriteriaLine(first, {}), HasSubstr("criteria that are not locked in the session"));
  EXPECT_EQ(report::trainingCriteriaLine({}, locked()), "") << "no verdict";
}

TEST(TrainingVerdict, ItsDocumentIsValidAgainstTheSchema) {
  const json document = report::trainingDocument(training(), locked(), "t.ulps");
  EXPECT_THAT(test::schemaFaults(schema(), document), IsEmpty());
  EXPECT_EQ(document["verdict"]["revised"], "revised after results: a guess");
  EXPECT_EQ(document["verdict"]["criteria_after_results"], true);
  EXPECT_EQ(document["ledger"][0]["loss"], "NaN");
  session::Training plain = training();
  plain.verdict.reset();
  plain.rollback.reset();
  EXPECT_THAT(test::schemaFaults(schema(), report::trainingDocument(plain, {}, "t.ulps")), IsEmpty());
  json broken = document;
  broken["ledger"][0].erase("lr");
  broken["runs"][1]["ledger"][0]["more"] = 1;
  EXPECT_EQ(test::schemaFaults(schema(), broken).size(), 2U) << "a key more and a key less are found";
}

}  // namespace
