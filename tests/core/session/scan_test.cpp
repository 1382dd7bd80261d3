#include "tests/core/session/sample_scan.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace ulpscope::session {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class EveryKind : public testing::TestWithParam<ScanKind> {};
INSTANTIATE_TEST_SUITE_P(Scans, EveryKind, testing::Values(ScanKind::segment, ScanKind::near, ScanKind::plane), [](const auto& kind) { return name(kind.param); });

TEST_P(EveryKind, ComesBackAsItWasWritten) {
  const json written = toJson(tests::sampleScan(GetParam()));
  EXPECT_EQ(toJson(scanFromJson(json::parse(written.dump()))), written);
}

TEST(ScanCodec, HasTheKeysOfTheContract) {
  const json document = scanDocument(tests::sampleScan(), "s.ulps");
  EXPECT_EQ(document["crossings"], json::parse(R"({"reference": [0.5], "candidate": [0.5009999871253967, 0.5019999742507935]})"));
  EXPECT_EQ(document["disagreement"], json::parse("[[0.5, 0.5009999871253967], [0.75, 1.0]]"));
  EXPECT_EQ(document["flicker"], json::parse("[[0.5009999871253967, 0.5019999742507935]]"));
  EXPECT_EQ(document["samples"][0]["t"], 0.0);
  EXPECT_EQ(document["samples"][0]["reference"], 4);
  EXPECT_EQ(document["samples"][1]["candidate"], json::parse(R"({"tied": 9})"));
  EXPECT_EQ(document["samples"][1]["candidate_margin"], "+inf");
  EXPECT_EQ(document["samples"][0]["reference_scores"], json::parse(R"([1.0, "NaN"])"));
  EXPECT_EQ(document["refined"][0]["candidate"], nullptr);
  EXPECT_EQ(document["samples"][0]["noise_error"], nullptr) << "not measured is no NaN";
  EXPECT_EQ(document["batch_size"], 32);
  EXPECT_EQ(document["status"], "ok");
  EXPECT_EQ(document["details"]["disagreement"][1]["input_l2"], 0.25 * 2.5);
}

TEST(ScanCodec, AStepThatWasNotFoundIsNoNumber) {
  const json near = toJson(tests::sampleScan(ScanKind::near))["near"];
  EXPECT_EQ(near["samples"][0]["candidate"]["step"], "beyond 4");
  EXPECT_EQ(near["samples"][0]["reference"]["step"], 1.0);
  EXPECT_EQ(near["samples"][0]["linear_step"], 0.5);
  EXPECT_EQ(near["samples"][1]["reference"], nullptr) << "nothing was tried";
  EXPECT_EQ(near["within"], 1) << "what has no margin has no decision";
}

TEST(ScanCodec, ASetAndSeveralPositionsAreLists) {
  Scan scan = tests::sampleScan();
  scan.settings.decision = parseDecisionRule("topk:1").value();
  EXPECT_EQ(toJson(scan)["samples"][0]["reference"], json::parse("[4]"));
  scan.decisions[0] = {std::vector<std::int64_t>(kShownPositions, 1), 100, false, "0123456789abcdef"};
  EXPECT_EQ(toJson(scan)["samples"][0]["reference"], "0123456789abcdef");
  EXPECT_EQ(toJson(scanFromJson(toJson(scan))), toJson(scan));
}

// What a hostile or damaged file may say; none may be taken.
TEST(ScanCodec, RefusesWhatIsNoScan) {
  const json good = toJson(tests::sampleScan()), plane = toJson(tests::sampleScan(ScanKind::plane));
  const auto refuses = [](json document, const std::string& pointer, const json& value) {
    document[json::json_pointer(pointer)] = value;
    EXPECT_THROW(scanFromJson(document), json::exception) << pointer << " " << value;
  };
  refuses(good, "/kind", "cube");
  refuses(good, "/samples/0/reference", 7);
  refuses(good, "/samples/0/reference", json::array({4}));
  refuses(good, "/details/crossings/candidate/0/from", "x");
  refuses(good, "/details/disagreement/0/at", json::array({0.5}));
  refuses(good, "/decisions", 3);
  refuses(good, "/settings", json::object());
  refuses(good, "/samples/0/t", "NaN");
  refuses(plane, "/plane/side", 3);
  refuses(plane, "/plane/side", -2);
  refuses(plane, "/plane/points", json::array());
  for (const auto& [key, value] : good.items()) {
    static const std::vector<std::string> kDerived{"crossings", "disagreement", "disagreeing", "flicker", "steps"};
    if (std::find(kDerived.begin(), kDerived.end(), key) != kDerived.end()) continue;
    json without = good;
    without.erase(key);
    EXPECT_THROW(scanFromJson(without), json::exception) << key;
  }
}

TEST(ScanTitle, SaysWhatAndWhatWasFound) {
  EXPECT_EQ(scanTitle(tests::sampleScan()), "segment a to b, FP16 with regions: 1 strip of disagreement, 0.25 of the segment (1 more within FP32's own noise), flicker, no AMP decision (NaN) on 0.1");
  EXPECT_EQ(scanTitle(tests::sampleScan(ScanKind::near)), "near all samples, FP16 with regions: 1 of 3 samples decided within the error, 1 without a decision (NaN)");
  EXPECT_EQ(scanTitle(tests::sampleScan(ScanKind::plane)), "plane a, b, c, FP16 with regions: 1 of 3 points flip, 1 without a decision (NaN)");
  Scan quiet = tests::sampleScan();
  quiet.segment = SegmentScan{};
  EXPECT_THAT(scanTitle(quiet), HasSubstr("no boundary"));
}

TEST(ScanDecisionName, IsTheClassOrTheSet) {
  Scan scan = tests::sampleScan();
  EXPECT_EQ(decisionName(scan, 0, {}), "4");
  EXPECT_EQ(decisionName(scan, 0, {"a", "b", "c", "d", "four"}), "four");
  EXPECT_EQ(decisionName(scan, 2, {}), "tie: 9");
  EXPECT_EQ(decisionName(scan, kNoDecision, {}), "no decision");
  scan.decisions[0] = {{1, 2, 3, 4, 5}, 5, false, ""};
  scan.settings.decision = parseDecisionRule("topk:5").value();
  EXPECT_EQ(decisionName(scan, 0, {}), "{1, 2, 3, 4, ... (5)}");
}

TEST(ScanRequest, ComesBackAsItWasSent) {
  ScanRequest request;
  request.sessionPath = "s.ulps";
  request.kind = ScanKind::plane;
  request.samples = {"a", "b", "c"};
  request.fp32 = {"m"};
  request.margin = 0.5;
  request.store = false;
  const auto back = scanRequestFromJson(toJson(request));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(toJson(back.value()), toJson(request));
  const auto defaults = scanRequestFromJson(json{{"session", "s"}, {"kind", "near"}, {"samples", json::array()}});
  ASSERT_TRUE(defaults.ok());
  EXPECT_EQ(defaults->steps, 1001);
  EXPECT_TRUE(defaults->store);
  EXPECT_FALSE(scanRequestFromJson(json{{"session", "s"}, {"kind", "line"}, {"samples", json::array()}}).ok());
  EXPECT_FALSE(scanRequestFromJson(json{{"session", "s"}}).ok());
}

std::string faultOf(ScanRequest request) {
  const auto checked = checkScanRequest(request);
  return checked ? "" : checked.error().message();
}

TEST(ScanRequest, SaysWhatNoSessionCouldAnswer) {
  ScanRequest request;
  EXPECT_THAT(faultOf(request), HasSubstr("needs 2 sample ids, not 0"));
  request.samples = {"a", "a"};
  EXPECT_THAT(faultOf(request), HasSubstr("sample 'a' stands twice; name different samples"));
  request.samples = {"a", "b"};
  EXPECT_EQ(faultOf(request), "");
  for (const std::int64_t steps : {std::int64_t{1}, kMostSteps + 1}) {
    request.steps = steps;
    EXPECT_THAT(faultOf(request), HasSubstr("must be from 2 to 100,001"));
  }
  request.steps = 2;
  request.limit = 0;
  EXPECT_THAT(faultOf(request), HasSubstr("--limit 0: must be above 0"));
  request.limit = std::nan("");
  EXPECT_THAT(faultOf(request), HasSubstr("--limit NaN: must be above 0"));
  request.limit = 1;
  request.decision = "regression";
  EXPECT_THAT(faultOf(request), HasSubstr("decides nothing"));
  request.decision = "best";
  EXPECT_NE(faultOf(request), "");
  request.decision = "";
  request.tie = "last";
  EXPECT_THAT(faultOf(request), HasSubstr("is no tie rule"));
  request.tie = "";
  request.batchSize = -1;
  EXPECT_THAT(faultOf(request), HasSubstr("--batch-size -1: must be from 1"));
}

}  // namespace
}  // namespace ulpscope::session
