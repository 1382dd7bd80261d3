#include "core/session/run_record.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>

using namespace ulpscope;
using namespace ulpscope::session;
using nlohmann::json;
using testing::HasSubstr;

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

TEST(SiteCodec, KeepsEveryNumber) {
  for (const double value : kAwkward) {
    const auto read = siteFromJson(throughText(toJson(siteWith(value))));
    ASSERT_TRUE(read.ok()) << read.error().message();
    for (const Metric metric : allMetrics()) EXPECT_TRUE(same(read->values[metric], value)) << key(metric) << ": " << value;
    for (const auto& back : {read->noiseFloorRelL2, read->referenceErrorToFp64, read->candidateErrorToFp64})
      EXPECT_TRUE(same(back.value_or(-1), value)) << value << " came back as " << back.value_or(-1);
  }
}

TEST(SiteCodec, TellsNoValueFromNan) {
  const auto read = siteFromJson(throughText(toJson(SiteSummary{})));
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->noiseFloorRelL2.has_value());
  EXPECT_TRUE(siteFromJson(throughText(toJson(siteWith(kNan))))->noiseFloorRelL2.has_value());
}

TEST(SiteCodec, WritesNonFiniteNumbersAsWords) {
  EXPECT_TRUE(toJson(siteWith(kNan))["max_abs"].is_null()) << "not evaluated";
  EXPECT_EQ(toJson(siteWith(kInf))["max_abs"], "+inf");
  EXPECT_EQ(toJson(siteWith(-kInf))["max_abs"], "-inf");
  EXPECT_TRUE(toJson(SiteSummary{})["max_ulp"].is_null());
}

TEST(SiteCodec, KeepsEveryOtherField) {
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
  site.elementsOverTolerance = std::numeric_limits<std::int64_t>::max();
  site.differingElements = 4;
  site.candidateOnly = {1, 2, 3};
  site.reference = {4, 5, 6};
  site.role = NonfiniteRole::consequence;
  const auto read = siteFromJson(throughText(toJson(site)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->modulePath, site.modulePath);
  EXPECT_EQ(read->overload, site.overload);
  EXPECT_EQ(read->source, site.source);
  EXPECT_EQ(read->occurrence, 3);
  EXPECT_EQ(read->output, 1);
  EXPECT_EQ(read->candidateDtype, base::DType::float16);
  EXPECT_EQ(read->referenceDtype, base::DType::float64);
  EXPECT_EQ(read->policyClass, "promote");
  EXPECT_EQ(read->shape, site.shape);
  EXPECT_EQ(read->sampleAxis, "1:n*batch");
  EXPECT_EQ(read->viewOf, "self");
  EXPECT_EQ(read->worstSample, site.worstSample);
  EXPECT_EQ(read->elementsOverTolerance, site.elementsOverTolerance);
  EXPECT_EQ(read->differingElements, 4);
  EXPECT_EQ(read->candidateOnly.minusInf, 3);
  EXPECT_EQ(read->reference.nan, 4);
  EXPECT_EQ(read->role, NonfiniteRole::consequence);
}

TEST(SiteCodec, RefusesWhatItDoesNotKnow) {
  const json good = toJson(siteWith(1));
  for (const auto& [key, value] : good.items()) {
    json missing = good;
    missing.erase(key);
    EXPECT_FALSE(siteFromJson(missing).ok()) << key;
  }
  for (const char* key : {"dtype", "reference_dtype", "role"}) {
    json unknown = good;
    unknown[key] = "nonsense";
    const auto read = siteFromJson(unknown);
    ASSERT_FALSE(read.ok()) << key << " must not fall back to a default";
    EXPECT_THAT(read.error().message(), HasSubstr("nonsense"));
  }
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
  run.outputs = {{"logits", {5, 2}, base::DType::float16, value, std::nullopt, value, std::nullopt, value}};
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
