#include "core/session/training_ledger.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

using namespace ulpscope;
using namespace ulpscope::session;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr const char* kHead = "{\"ulpscope_ledger\": 1}\n";

std::string says(const std::string& text) {
  const auto ledger = ledgerFromLines(text);
  return ledger ? "read" : ledger.error().message();
}

TEST(TrainingLedger, ReadsWhatAPythonLoopWrote) {
  const auto ledger = ledgerFromLines(
      "{\"ulpscope_ledger\": 1, \"optimizers\": [\"adam\"], \"resumed_at\": 4, \"settings\": {\"torch\": \"2.6.0\", \"lr\": 0.1}}\n\n"
      "{\"step\": 5, \"loss\": \"NaN\", \"rows\": [3, \"x\"], \"weights\": \"2c26\", \"growth_tracker\": 7, \"skipped\": true, \"rng\": null}\n"
      "{\"step\": 4, \"loss\": 0.1, \"first_nonfinite\": null}\n");
  ASSERT_TRUE(ledger.ok()) << ledger.error().message();
  EXPECT_EQ(ledger->resumedAt, 4);
  EXPECT_EQ(ledger->settings, (std::map<std::string, std::string>{{"torch", "2.6.0"}, {"lr", "0.1"}}));
  ASSERT_EQ(ledger->lines.size(), 2U);
  EXPECT_EQ(ledger->lines[0].step, 4) << "by step";
  const auto& values = ledger->lines[1].values;
  EXPECT_TRUE(std::isnan(std::get<double>(values.at(LedgerState::loss))));
  EXPECT_EQ(valueText(LedgerState::rows, values.at(LedgerState::rows)), "[3,\"x\"]");
  EXPECT_EQ(valueText(LedgerState::weights, values.at(LedgerState::weights)), "2c26");
  EXPECT_EQ(valueText(LedgerState::growthTracker, values.at(LedgerState::growthTracker)), "7");
  EXPECT_EQ(valueText(LedgerState::skipped, values.at(LedgerState::skipped)), "true");
  EXPECT_EQ(values.count(LedgerState::rng), 0U) << "null is not recorded";
  EXPECT_EQ(valueText(LedgerState::rng, std::string(64, 'a')), std::string(16, 'a') + "...");
}

TEST(TrainingLedger, NamesTheLineThatIsWrong) {
  const std::string head = kHead;
  EXPECT_THAT(says(""), HasSubstr("is empty"));
  EXPECT_THAT(says("{\"step\": 0}\n"), HasSubstr("line 1, ulpscope_ledger: is missing"));
  EXPECT_THAT(says("{\"ulpscope_ledger\": 2}"), HasSubstr("not the version"));
  EXPECT_THAT(says("{\"ulpscope_ledger\": 1, \"settings\": {\"a\": []}}"), HasSubstr("'a' is neither text nor number"));
  EXPECT_THAT(says(head + "{\"step\": 0, \"loss\": NaN}"), HasSubstr("line 2, column 21: is no JSON: 'NaN' does not belong there")) << "Python's bare NaN";
  EXPECT_THAT(says(head + "{\"step\": 0, \"loss\": \"Infinity\"}"), HasSubstr("line 2, loss: \"Infinity\" is no number; write one, or \"NaN\", \"+inf\", \"-inf\""));
  EXPECT_THAT(says(head + "{\"step\": 0, \"los\": 1}"), HasSubstr("line 2, los: is no key that is known here; nearest: 'loss'"));
  EXPECT_THAT(says(head + "{\"loss\": 1}"), HasSubstr("step: is missing"));
  EXPECT_THAT(says(head + "{\"step\": -1}"), HasSubstr("-1 is below 0"));
  EXPECT_THAT(says(head + "{\"step\": 0, \"rows\": [1.5]}"), HasSubstr("neither a list of whole numbers or texts"));
  EXPECT_THAT(says(head + "{\"step\": 0, \"loss\": 1, \"loss\": 2}"), HasSubstr("key 'loss' twice"));
  EXPECT_THAT(says(head + "{\"step\": 3, \"optimizer\": \"a\"}\n{\"step\": 3, \"optimizer\": \"b\"}\n{\"step\": 3, \"optimizer\": \"a\"}"), HasSubstr("has step 3 of a twice"));
  EXPECT_THAT(says(head + head), HasSubstr("line 2"));
}

TEST(TrainingLedger, KnowsTheKeysOfItsSchema) {
  std::ifstream file(ULPSCOPE_TEST_DATA "/../../../resources/schema/ledger.schema.json");
  const json schema = json::parse(file);
  for (const auto& [key, unused] : schema.at("anyOf")[0].at("properties").items())
    EXPECT_THAT(says(json{{key, json::object()}, {"ulpscope_ledger", 1}}.dump()), Not(HasSubstr("is no key that is known"))) << key;
  const json& line = schema.at("anyOf")[1].at("properties");
  for (const auto& [key, unused] : line.items()) EXPECT_THAT(says(kHead + json{{key, nullptr}}.dump()), Not(HasSubstr("is no key that is known"))) << key;
  for (const LedgerState state : ledgerStates()) EXPECT_TRUE(line.contains(name(state))) << name(state);
}

TEST(TrainingLedger, ReadsOurOwnTrainings) {
  Training training;
  training.recipe = R"({"model": "m.ts", "inputs": "in.h5", "loss": "output", "optimizers": [{"type": "SGD", "lr": 0.5}], "steps": 3})";
  training.policyTable = "cuda@2.12";
  training.runs.resize(1);
  LedgerLine line;
  line.step = 7;
  line.optimizer = "sgd";
  line.loss = 1.0 / 3;
  line.gradNorm = INFINITY;
  line.skipped = true;
  training.runs[0].ledger = {line};
  training.resumes.push_back({7, "step-00000007.h5", "00", "", {}});
  const auto ledger = ledgerOf(training);
  ASSERT_TRUE(ledger.ok()) << ledger.error().message();
  EXPECT_EQ(ledger->resumedAt, 7);
  EXPECT_EQ(ledger->recipe->optimizers[0].lr, 0.5);
  EXPECT_EQ(ledger->settings.at("policy_table"), "cuda@2.12");
  ASSERT_EQ(ledger->lines.size(), 1U);
  EXPECT_EQ(ledger->lines[0].optimizer, "sgd");
  EXPECT_EQ(std::get<double>(ledger->lines[0].values.at(LedgerState::loss)), 1.0 / 3);
  EXPECT_EQ(std::get<double>(ledger->lines[0].values.at(LedgerState::gradNorm)), INFINITY);
  EXPECT_EQ(ledger->lines[0].values.size(), ledgerStates().size() - 5) << "rows and four digests are not in it";
  training.runs.clear();
  EXPECT_THAT(ledgerOf(training).error().message(), HasSubstr("has no list \"ledger\""));
  EXPECT_FALSE(ledgerFromDocument(json::array()).ok());
}

}  // namespace
