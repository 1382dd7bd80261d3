#include "core/base/number_text.h"
#include "core/session/run_record.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>

using namespace ulpscope;
using namespace ulpscope::session;
using nlohmann::json;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Through text, as it is stored.
json throughText(const json& value) { return json::parse(value.dump()); }

// Equal in bits, or both NaN: JSON keeps no NaN payload.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

SiteSummary siteWith(double value) {
  SiteSummary site;
  site.modulePath = "encoder.layers.0.fc2";
  site.op = "aten::linear";
  site.candidateDtype = base::DType::float16;
  site.shape = {2, 3};
  for (const Metric metric : allMetrics()) site.values[metric] = value;
  site.noiseFloorRelL2 = site.referenceErrorToFp64 = site.candidateErrorToFp64 = value;
  return site;
}

// -0.0, the smallest subnormal, the largest value and thirds catch a codec that prints too few digits.
const double kAwkward[] = {kNan, kInf, -kInf, 0.0, -0.0, 5e-324, std::numeric_limits<double>::max(), 1.0 / 3.0, 0.1, 81920.0, 1e300};

TEST(SiteJson, KeepsEveryNumber) {
  for (const double value : kAwkward) {
    const json written = throughText(toJson(siteWith(value)));
    for (const Metric metric : allMetrics()) EXPECT_TRUE(same(base::numberFromJson(written.at(key(metric))), value)) << key(metric) << ": " << value;
    for (const char* optional : {"noise_floor_rel_l2", "reference_error_to_fp64", "candidate_error_to_fp64"})
      EXPECT_TRUE(same(base::numberFromJson(written.at(optional)), value)) << optional << ": " << value;
  }
}

TEST(SiteJson, TellsNoValueFromNan) {
  EXPECT_TRUE(toJson(SiteSummary{})["noise_floor_rel_l2"].is_null());
  EXPECT_EQ(toJson(siteWith(kNan))["noise_floor_rel_l2"], "NaN");
}

TEST(SiteJson, WritesNonFiniteNumbersAsWords) {
  EXPECT_TRUE(toJson(siteWith(kNan))["max_abs"].is_null()) << "not evaluated";
  EXPECT_EQ(toJson(siteWith(kInf))["max_abs"], "+inf");
  EXPECT_EQ(toJson(siteWith(-kInf))["max_abs"], "-inf");
  EXPECT_TRUE(toJson(SiteSummary{})["max_ulp"].is_null());
}

TEST(SiteJson, HoldsEveryOtherField) {
  SiteSummary site = siteWith(1);
  site.overload = "Tensor_out";
  site.source = "model.py:12";
  site.occurrence = 3;
  site.output = 1;
  site.referenceDtype = base::DType::float64;
  site.policyClass = "promote";
  site.sampleAxis = "1:n*batch";
  site.viewOf = "self";
  site.worstSample = 1LL << 40;
  site.elements = 6;
  site.elementsOverTolerance = std::numeric_limits<std::int64_t>::max();
  site.differingElements = 4;
  site.candidateOnly = {1, 2, 3};
  site.candidate = {7, 8, 9};
  site.reference = {4, 5, 6};
  site.role = NonfiniteRole::consequence;
  site.operands = SiteOperands{{{"self", base::DType::float64, {}, base::DType::float16, SiteOperand::From::site, 7, ""}}, 17};
  json written = throughText(toJson(site));
  for (const Metric metric : allMetrics()) written.erase(key(metric));
  EXPECT_EQ(written, json::parse(R"({"module": "encoder.layers.0.fc2", "op": "aten::linear", "overload": "Tensor_out", "source": "model.py:12",
    "occurrence": 3, "output": 1, "dtype": "float16", "reference_dtype": "float64", "policy": "promote", "shape": [2, 3], "sample_axis": "1:n*batch",
    "view_of": "self", "worst_sample": 1099511627776, "elements": 6, "elements_over_tolerance": 9223372036854775807, "differing_elements": 4,
    "nonfinite": {"NaN": 1, "+inf": 2, "-inf": 3}, "candidate_nonfinite": {"NaN": 7, "+inf": 8, "-inf": 9},
    "reference_nonfinite": {"NaN": 4, "+inf": 5, "-inf": 6}, "role": "consequence", "noise_floor_rel_l2": 1.0, "reference_error_to_fp64": 1.0,
    "candidate_error_to_fp64": 1.0, "operands": {"count": 17, "listed": [["self", "float64", null, "float16", "site", 7]]}})"));
}

TEST(NonfiniteRole, IsFoundByItsNameAndByNoOtherWord) {
  for (const auto role : {NonfiniteRole::none, NonfiniteRole::origin, NonfiniteRole::consequence}) EXPECT_EQ(nonfiniteRoleFromName(name(role)), role);
  for (const char* unknown : {"", "Origin", "nonsense"}) EXPECT_FALSE(nonfiniteRoleFromName(unknown).has_value()) << unknown;
}

NonfiniteFinding findingWith(double value) {
  NonfiniteFinding f;
  f.stage = "intermediate";
  f.site = 1;
  f.op = "aten::linear";
  f.overload = "o";
  f.modulePath = "fc";
  f.source = "m.py:1";
  f.occurrence = 2;
  f.sampleIds = {"a", "b"};
  f.wholeBatch = true;
  f.counts = {1, 0, 3};
  f.cause = "overflow";
  f.operands = {{"weight", base::DType::bfloat16, {value, value, value}}};
  f.reference = {value, value, value};
  f.diagnosis = "fc overflows";
  return f;
}

RunRecord recordWith(double value) {
  RunRecord run;
  run.number = 12;
  run.createdUtc = "2026-01-31T14:02:07Z";
  run.status = RunStatus::partial;
  run.settings.fp32 = {"fc"};
  run.libtorchVersion = "1.13.1";
  run.policyTable = "cuda@1.13";
  run.probeCheck = "identical";
  run.samplesComplete = 5;
  run.elapsedSeconds = 1.5;
  run.threadsPerRun = 2;
  run.warnings = {"w"};
  run.unresolvedCalls = {"u"};
  run.eagerCheck = "agree";
  run.outputs = {{"logits", {5, 2}, "0", base::DType::float16, value, std::nullopt, value, std::nullopt, value}};
  run.nonfiniteOrigins = {findingWith(value)};
  run.referenceNonfinite = {findingWith(1), findingWith(2)};
  run.consequenceSites = 9;
  run.candidateError = CandidateError{"aten::mm", "fc", "no"};
  run.controlFlow = {{"loop", "aten::add", "diverged"}};
  Flip flip;
  flip.sampleId = "s";
  flip.sample = 4;
  flip.referenceDecision = 1;
  flip.candidateDecision = 0;
  flip.referenceMargin = flip.candidateMargin = value;
  flip.kind = "changed";
  flip.positions = {7};
  flip.referenceTop = {{1, "dog", value}, {0, "", 1}};
  run.flips = {flip};
  run.decisions = {{value, 1}, {2, value}};
  run.noDecision = {"n"};
  return run;
}

TEST(RunCodec, KeepsEveryField) {
  for (const double value : kAwkward) {
    SCOPED_TRACE(value);
    const json written = toJson(recordWith(value));
    const auto read = runFromJson(throughText(written), {siteWith(1)});
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(toJson(read.value()).dump(), written.dump());
    EXPECT_EQ(read->id(), "run_0012");
    EXPECT_EQ(read->status, RunStatus::partial);
    EXPECT_EQ(read->sites.size(), 1U);
    EXPECT_TRUE(same(*read->outputs[0].maxAbs, value));
    EXPECT_FALSE(read->outputs[0].maxRel.has_value());
    EXPECT_TRUE(same(read->nonfiniteOrigins[0].operands[0].range.maxAbs, value));
    EXPECT_EQ(read->nonfiniteOrigins[0].operands[0].dtype, base::DType::bfloat16);
    EXPECT_TRUE(same(read->nonfiniteOrigins[0].reference.min, value));
    EXPECT_EQ(read->nonfiniteOrigins[0].counts.minusInf, 3);
    EXPECT_TRUE(read->nonfiniteOrigins[0].wholeBatch);
    EXPECT_EQ(read->referenceNonfinite.size(), 2U);
    EXPECT_TRUE(same(read->flips[0].candidateMargin, value));
    EXPECT_EQ(read->flips[0].firstSiteOverTolerance, -1);
    EXPECT_EQ(read->flips[0].effect, "");
    EXPECT_EQ(read->flips[0].referenceTop[1].name, "");
    EXPECT_TRUE(same(read->decisions[1].candidateMargin, value));
    EXPECT_EQ(read->candidateError->message, "no");
    EXPECT_EQ(read->controlFlow[0].what, "diverged");
  }
}

TEST(RunCodec, NamesTheKindsOfNonFiniteValuesFound) {
  EXPECT_EQ(toJson(recordWith(1))["nonfinite_origins"][0]["values"], json::parse(R"(["NaN", "-inf"])"));
}

TEST(RunCodec, RefusesWhatItDoesNotKnow) {
  const json good = toJson(recordWith(1));
  for (const auto& [key, value] : good.items()) {
    json missing = good;
    missing.erase(key);
    EXPECT_FALSE(runFromJson(missing, {}).ok()) << key;
  }
  json unknown = good;
  unknown["status"] = "nonsense";
  EXPECT_FALSE(runFromJson(unknown, {}).ok());
  unknown = good;
  unknown["outputs"][0]["dtype"] = "float8";
  EXPECT_FALSE(runFromJson(unknown, {}).ok());
  for (const json& other : {json(nullptr), json::array(), json("text"), json(3)}) EXPECT_FALSE(runFromJson(other, {}).ok());
}

}  // namespace
