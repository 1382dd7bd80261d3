// Expected numbers by hand.
#include "core/analysis/verdict.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

using nlohmann::json;
using session::JudgedAs;
using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
const float kNanF = std::nanf("");

// Three samples of two scores; sample b flips.
struct Case {
  std::vector<float> reference{1, 2, 3, 1, 5, 4}, candidate{1, 2.5F, 3, 3.5F, 5, 4};
  session::SampleSet samples;
  session::RunRecord run;

  Case() {
    samples.ids = {"a", "b", "c"};
    samples.labels = {1, 0, 1};
    run.number = 1;
    run.settings.decision = session::parseDecisionRule("argmax").value();
    session::OutputSummary output;
    output.name = "logits";
    output.shape = {3, 2};
    output.sampleAxis = "0";
    run.outputs = {output};
    run.decisions = {{1, 1.5, 0.5}, {2, 0.5, 2.5}, {1, 1, 0}};
    session::Flip flip;
    flip.sampleId = "b";
    flip.sample = 1;
    flip.referenceMargin = 2;
    flip.effect = "regressed";
    run.flips = {flip};
    run.quality = session::Quality{3, 2, 1};
    run.samplesComplete = 3;
  }

  session::Verdict judged(const json& limits) const {
    json document = limits;
    document["schema"] = 1;
    const auto criteria = session::criteriaFromJson(document);
    EXPECT_TRUE(criteria.ok()) << criteria.error().message();
    const std::vector<JudgedOutput> outputs{{"logits", {reference.data(), base::DType::float32, {3, 2}}, {candidate.data(), base::DType::float32, {3, 2}}, session::SampleAxis::fromText("0")}};
    return judge(criteria.value(), run, samples, outputs);
  }
  session::CriterionResult one(const json& limits) const { return judged(limits).criteria.at(0); }
};

json output(const json& limits) { return {{"outputs", json::array({limits})}}; }

TEST(VerdictOnOutputs, MeasuresTheWorstElementAgainstTheTolerance) {
  const auto result = Case().one(output({{"output", "logits"}, {"atol", 0.5}, {"rtol", 0.25}}));
  EXPECT_DOUBLE_EQ(result.measured, 2.5 / (0.5 + 0.25 * 1));  // 1 -> 3.5
  EXPECT_EQ(result.limit, 1);
  EXPECT_EQ(result.worstSample, "b");
  EXPECT_EQ(result.status, JudgedAs::fail);
  EXPECT_THAT(result.note, HasSubstr("1 of 6 elements outside"));
  EXPECT_EQ(Case().one(output({{"atol", 2.5}})).status, JudgedAs::pass);  // at the limit
  EXPECT_EQ(Case().one(output({{"atol", 2.499}})).status, JudgedAs::fail);
}

TEST(VerdictOnOutputs, MeasuresTheShareOutside) {
  const auto result = Case().one(output({{"atol", 0.25}, {"max_share_outside", 0.5}}));
  EXPECT_DOUBLE_EQ(result.measured, 2.0 / 6);
  EXPECT_EQ(result.status, JudgedAs::pass);
  EXPECT_DOUBLE_EQ(result.ratio, 2.0 / 3);
}

TEST(VerdictOnOutputs, MeasuresAMetricOfTheWorstSample) {
  const auto result = Case().one(output({{"rel_l2", 0.5}}));
  EXPECT_DOUBLE_EQ(result.measured, 2.5 / std::sqrt(10.0));
  EXPECT_EQ(result.worstSample, "b");
}

TEST(VerdictOnOutputs, NoToleranceAllowsANonFiniteValue) {
  Case c;
  c.candidate[5] = kNanF;
  const auto result = c.one(output({{"atol", 1e30}}));
  EXPECT_EQ(result.measured, kInf);
  EXPECT_EQ(result.worstSample, "c");
  EXPECT_EQ(result.status, JudgedAs::fail);
  EXPECT_EQ(c.one(output({{"rel_l2", 1e30}})).status, JudgedAs::fail);
  EXPECT_EQ(c.one(output({{"sqnr_db", -1e30}})).status, JudgedAs::fail);
  c.reference[5] = kNanF;  // the same in both is none of autocast's
  EXPECT_EQ(c.one(output({{"atol", 10}})).status, JudgedAs::pass);
}

TEST(VerdictOnOutputs, AZeroToleranceAllowsEqualityAlone) {
  Case c;
  c.candidate = c.reference;
  EXPECT_EQ(c.one(output({{"atol", 0}})).status, JudgedAs::pass);
  EXPECT_EQ(Case().one(output({{"atol", 0}})).measured, kInf);
}

TEST(VerdictOnOutputs, AnOutputThatIsNotThereIsNotEvaluated) {
  const auto verdict = Case().judged(output({{"output", "boxes"}, {"atol", 1}}));
  EXPECT_EQ(verdict.criteria[0].status, JudgedAs::notEvaluated);
  EXPECT_THAT(verdict.criteria[0].note, HasSubstr("no output 'boxes'"));
  EXPECT_EQ(verdict.status, JudgedAs::notEvaluated);
}

TEST(VerdictOnDecisions, CountsFlipsRatesMarginsAndRegressions) {
  const auto verdict = Case().judged({{"decisions", {{"max_flips", 1}, {"max_flip_rate", 0.25}, {"no_flip_beyond_margin", 2}, {"max_regressions", 0}}}});
  EXPECT_EQ(verdict.criteria[0].measured, 1);
  EXPECT_EQ(verdict.criteria[0].status, JudgedAs::pass);
  EXPECT_EQ(verdict.criteria[0].worstSample, "b");
  EXPECT_DOUBLE_EQ(verdict.criteria[1].measured, 1.0 / 3);
  EXPECT_EQ(verdict.criteria[1].status, JudgedAs::fail);
  EXPECT_EQ(verdict.criteria[2].measured, 2);
  EXPECT_EQ(verdict.criteria[2].status, JudgedAs::pass);
  EXPECT_EQ(verdict.criteria[3].status, JudgedAs::fail);
  EXPECT_EQ(verdict.criteria[3].ratio, kInf);
  EXPECT_EQ(verdict.status, JudgedAs::fail);
}

TEST(VerdictOnDecisions, ALostDecisionIsAFlipUnlessTheCriteriaSayOtherwise) {
  Case c;
  c.run.flips.clear();
  c.run.decisions[2].candidateMargin = std::nan("");
  EXPECT_EQ(c.one({{"decisions", {{"max_flips", 0}}}}).measured, 1);
  EXPECT_EQ(c.one({{"decisions", {{"max_flips", 0}}}}).worstSample, "c");
  EXPECT_EQ(c.one({{"decisions", {{"no_flip_beyond_margin", 9}}}}).measured, kInf);
  EXPECT_EQ(c.one({{"decisions", {{"max_flips", 0}, {"no_decision_is_flip", false}}}}).measured, 0);
}

TEST(VerdictOnDecisions, FlipsWithinFp32sNoiseCountUnlessTheCriteriaSayOtherwise) {
  Case c;
  c.run.flips[0].withinNoiseFloor = true;
  EXPECT_EQ(c.one({{"decisions", {{"max_flips", 0}}}}).measured, 1);
  EXPECT_EQ(c.one({{"decisions", {{"max_flips", 0}, {"flips_within_noise_floor_count", false}}}}).measured, 0);
}

TEST(VerdictOnDecisions, AreNotEvaluatedWithoutADecision) {
  Case c;
  c.run.settings.decision = {};
  EXPECT_EQ(c.one({{"decisions", {{"max_flips", 5}}}}).status, JudgedAs::notEvaluated);
  Case unlabelled;
  unlabelled.samples.labels.clear();
  EXPECT_EQ(unlabelled.one({{"decisions", {{"max_regressions", 5}}}}).status, JudgedAs::notEvaluated);
}

TEST(VerdictOnQuality, MeasuresAccuracyAndItsDrop) {
  const auto verdict = Case().judged({{"quality", {{{"min", 0.3}, {"max_drop", 0.25}}}}});
  EXPECT_DOUBLE_EQ(verdict.criteria[0].measured, 1.0 / 3);
  EXPECT_EQ(verdict.criteria[0].status, JudgedAs::pass);
  EXPECT_DOUBLE_EQ(verdict.criteria[0].ratio, 0.9);
  EXPECT_DOUBLE_EQ(verdict.criteria[1].measured, 2.0 / 3 - 1.0 / 3);
  EXPECT_EQ(verdict.criteria[1].status, JudgedAs::fail);
}

TEST(VerdictOnQuality, MeasuresErrorsToTheTargets) {
  Case c;
  EXPECT_EQ(c.one({{"quality", {{{"measure", "mean_error"}, {"max", 9}}}}}).status, JudgedAs::notEvaluated);
  c.run.regression = session::Regression{};
  c.run.regression->referenceToTarget = session::ErrorSizes{1, 2, 3};
  c.run.regression->candidateToTarget = session::ErrorSizes{1.5, 1, 3};
  const auto verdict = c.judged({{"quality", {{{"measure", "mean_error"}, {"max", 1}, {"max_increase", 0.5}}, {{"measure", "root_mean_square_error"}, {"max_increase", 0}}}}});
  EXPECT_EQ(verdict.criteria[0].measured, 1.5);
  EXPECT_EQ(verdict.criteria[0].status, JudgedAs::fail);
  EXPECT_EQ(verdict.criteria[1].measured, 0.5);
  EXPECT_EQ(verdict.criteria[1].status, JudgedAs::pass);
  EXPECT_EQ(verdict.criteria[2].measured, 0);  // it fell
}

TEST(VerdictOnNonfinite, CountsSamplesThatNoRuleExplains) {
  Case c;
  session::NonfiniteFinding origin;
  origin.stage = "intermediate";
  origin.op = "aten::linear";
  origin.modulePath = "head";
  origin.sampleIds = {"a", "b"};
  c.run.nonfiniteOrigins = {origin};
  c.run.nonfiniteSamples = {"b"};
  EXPECT_EQ(c.one({{"nonfinite", {{"max_samples", 0}}}}).measured, 2);
  EXPECT_EQ(c.one({{"nonfinite", {{"max_samples", 0}}}, {"allow_nonfinite", {"head"}}}).measured, 1);  // the output of b
  c.run.nonfiniteOrigins[0].sampleIds.clear();
  c.run.nonfiniteOrigins[0].wholeBatch = true;
  c.run.nonfiniteSamples.clear();
  EXPECT_EQ(c.one({{"nonfinite", {{"max_samples", 0}}}}).measured, 3);
}

TEST(VerdictOnSites, TakesTheWorstOfThoseNamed) {
  Case c;
  for (const double error : {0.25, 0.75}) {
    session::SiteSummary site;
    site.modulePath = error > 0.5 ? "head" : "body";
    site.op = "aten::linear";
    site.values[session::Metric::relL2] = error;
    site.worstSample = 2;
    c.run.sites.push_back(site);
  }
  EXPECT_EQ(c.one({{"sites", {{{"rel_l2", 0.5}}}}}).measured, 0.75);
  EXPECT_EQ(c.one({{"sites", {{{"rel_l2", 0.5}}}}}).worstSample, "c");
  EXPECT_EQ(c.one({{"sites", {{{"sites", "body"}, {"rel_l2", 0.5}}}}}).measured, 0.25);
  EXPECT_EQ(c.one({{"sites", {{{"sites", "tail"}, {"rel_l2", 0.5}}}}}).status, JudgedAs::notEvaluated);
  c.run.sites[0].candidateOnly.nan = 1;
  EXPECT_EQ(c.one({{"sites", {{{"sites", "body"}, {"rel_l2", 0.5}}}}}).measured, kInf);
}

TEST(VerdictOnARun, IsNotGivenWhereTheRunCannotBeJudged) {
  const json limits = {{"decisions", {{"max_flips", 9}}}};
  Case partial;
  partial.run.status = session::RunStatus::partial;
  EXPECT_EQ(partial.judged(limits).status, JudgedAs::notEvaluated);
  EXPECT_THAT(partial.judged(limits).reason, HasSubstr("partial"));
  Case chosen;
  chosen.run.settings.onlySamples = {"a"};
  EXPECT_THAT(chosen.judged(limits).reason, HasSubstr("chosen samples"));
  Case changed;
  changed.run.probeCheck = "differs";
  EXPECT_EQ(changed.judged(limits).status, JudgedAs::notEvaluated);
  Case noBaseline;
  noBaseline.run.referenceNonfinite.push_back({});
  noBaseline.run.referenceNonfinite[0].modulePath = "head";
  noBaseline.run.referenceNonfinite[0].stage = "intermediate";
  EXPECT_THAT(noBaseline.judged(limits).reason, HasSubstr("FP32 is no baseline"));
  json allowing = limits;
  allowing["allow_nonfinite"] = {"head"};
  EXPECT_EQ(noBaseline.judged(allowing).status, JudgedAs::pass);
}

TEST(VerdictOnARun, ACandidateThatRaisedFails) {
  Case c;
  c.run.candidateError = session::CandidateError{"aten::binary_cross_entropy", "cost", "unsafe to autocast"};
  c.run.status = session::RunStatus::partial;
  const auto verdict = c.judged({{"decisions", {{"max_flips", 9}}}});
  EXPECT_EQ(verdict.status, JudgedAs::fail);
  EXPECT_THAT(verdict.reason, HasSubstr("unsafe to autocast"));
}

}  // namespace
}  // namespace ulpscope::analysis
