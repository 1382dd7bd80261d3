#include "core/session/settings.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace ulpscope;
using namespace ulpscope::session;
using testing::HasSubstr;

namespace {

RunSettings everySettingChanged() {
  RunSettings s;
  s.autocast = base::DType::bfloat16;
  s.policyTable = "cpu@1.13";
  s.mode = Mode::native;
  s.device = "cuda";
  s.batchSize = 7;
  s.seed = 0xFFFFFFFFFFFFFFFEULL;
  s.trainMode = true;
  s.castCache = false;
  s.verifyProbe = true;
  s.fp32 = {".", "encoder.*"};
  s.disable = {"fc:aten::linear@3#2"};
  s.decision.kind = DecisionRule::Kind::argmax;
  s.decision.dim = -2;
  s.decisionOutput = "logits";
  s.tie = TieRule::refuse;
  s.batchAxis = {{"mask", -1}, {"x", 1}};
  return s;
}

TEST(SettingsCodec, GivesBackEverySetting) {
  const auto text = toJson(everySettingChanged()).dump();
  const auto read = settingsFromJson(nlohmann::json::parse(text));
  ASSERT_TRUE(read.ok()) << read.error().message();
  const RunSettings& s = read.value();
  EXPECT_EQ(s.autocast, base::DType::bfloat16);
  EXPECT_EQ(s.policyTable, "cpu@1.13");
  EXPECT_EQ(s.mode, Mode::native);
  EXPECT_EQ(s.device, "cuda");
  EXPECT_EQ(s.batchSize, 7);
  EXPECT_EQ(s.seed, 0xFFFFFFFFFFFFFFFEULL);
  EXPECT_TRUE(s.trainMode);
  EXPECT_FALSE(s.castCache);
  EXPECT_TRUE(s.verifyProbe);
  EXPECT_EQ(s.fp32, (std::vector<std::string>{".", "encoder.*"}));
  EXPECT_EQ(s.disable, (std::vector<std::string>{"fc:aten::linear@3#2"}));
  EXPECT_EQ(s.decision.text(), "argmax:-2");
  EXPECT_EQ(s.decisionOutput, "logits");
  EXPECT_EQ(s.tie, TieRule::refuse);
  EXPECT_EQ(s.batchAxis, (std::map<std::string, int>{{"mask", -1}, {"x", 1}}));
  EXPECT_EQ(toJson(s).dump(), text);
}

TEST(SettingsCodec, KnowsARecordingAndNoModeThatDoesNotExist) {
  RunSettings settings;
  settings.mode = Mode::recorded;
  settings.device = "cuda:0 (NVIDIA H200)";
  nlohmann::json json = toJson(settings);
  EXPECT_EQ(json.at("mode"), "recorded");
  const auto read = settingsFromJson(json);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->mode, Mode::recorded);
  json["mode"] = "simulated";
  EXPECT_THAT(settingsFromJson(json).error().message(), HasSubstr("must be emulated, native or recorded"));
}

TEST(SettingsCodec, GivesBackARequest) {
  const RunRequest request{"m.ts", "in.h5", "labels.txt", "names.txt", "out.ulps", true, everySettingChanged(), R"({"schema":1})", Lineage{"id", "digits", 3, "abc", true}};
  const auto read = requestFromJson(nlohmann::json::parse(toJson(request).dump()));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->modelPath, "m.ts");
  EXPECT_EQ(read->inputsPath, "in.h5");
  EXPECT_EQ(read->labelsPath, "labels.txt");
  EXPECT_EQ(read->classNamesPath, "names.txt");
  EXPECT_EQ(read->sessionPath, "out.ulps");
  EXPECT_TRUE(read->append);
  EXPECT_EQ(toJson(read->settings), toJson(request.settings));
}

TEST(SettingsCodec, RefusesAMissingKeyAWrongTypeOrAnUnknownWord) {
  const nlohmann::json good = toJson(RunSettings{});
  ASSERT_TRUE(settingsFromJson(good).ok());
  for (const auto& [key, value] : good.items()) {
    nlohmann::json missing = good;
    missing.erase(key);
    EXPECT_FALSE(settingsFromJson(missing).ok()) << key;
    nlohmann::json wrong = good;
    wrong[key] = nlohmann::json::array({nlohmann::json::object()});
    EXPECT_FALSE(settingsFromJson(wrong).ok()) << key;
  }
  for (const char* key : {"autocast", "mode", "tie", "decision"}) {
    nlohmann::json unknown = good;
    unknown[key] = "nonsense";
    const auto read = settingsFromJson(unknown);
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_THAT(read.error().message(), HasSubstr("nonsense"));
  }
}

TEST(DecisionRule, IsParsedAndWritten) {
  for (const char* text : {"none", "argmax", "argmax:1", "argmax:-1", "argmin", "argmin:2", "topk:5", "topk:1:-2", "threshold:0.5", "threshold:-1e-07:ge", "exact", "regression"}) {
    const auto rule = parseDecisionRule(text);
    ASSERT_TRUE(rule.ok()) << text;
    EXPECT_EQ(rule->text(), text);
  }
  for (const char* text : {"argmax:", "argmax:x", "argmax:1x", "argmaximum", "argmax:1:2", "topk", "topk:0", "topk:-3", "topk:2.5", "topk:5:", "threshold", "threshold:", "threshold:nan",
                           "threshold:inf", "threshold:0.5:lt", "threshold:0.5:gt:1", "exact:1", "regression:", ":1"}) {
    const auto rule = parseDecisionRule(text);
    ASSERT_FALSE(rule.ok()) << text;
    EXPECT_EQ(base::exitCode(rule.error().kind), 2);
    EXPECT_THAT(rule.error().message(), HasSubstr(text));
  }
}

}  // namespace
