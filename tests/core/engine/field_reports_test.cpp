// Faults that users report, as small models: where they start, which samples they hit, what cures them and what does not.
// expected.json comes from a numpy oracle that shares no code with the engine (tests/support/fixtures/case.py).
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"
#include "tests/support/scratch_folder.h"

#include <gmock/gmock.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace ulpscope::engine {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using Words = std::vector<std::string>;

session::RunRequest requestFor(const std::string& name) {
  const auto expected = tests::expectedOf(name);
  session::RunRequest request = tests::requestFor(name);
  request.settings.autocast = expected.at("autocast") == "bfloat16" ? base::DType::bfloat16 : base::DType::float16;
  request.settings.decision = session::parseDecisionRule(expected.at("decision").get<std::string>()).value();
  request.settings.observe = session::Observe::stats;
  request.settings.noiseFloor = false;
  return request;
}

std::optional<RunOutcome> runWithFp32(const std::string& name, const nlohmann::json& modules) {
  session::RunRequest request = requestFor(name);
  request.settings.fp32 = modules.get<Words>();
  Engine engine;
  auto outcome = engine.run(request, {}, {});
  if (outcome.ok()) return std::move(outcome).value();
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::inconclusive) << outcome.error().message();  // nothing is left to autocast
  return std::nullopt;
}

Words flippedSamples(const RunOutcome& outcome) {
  Words ids;
  for (const auto& flip : outcome.run.flips) ids.push_back(flip.sampleId);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Words kindsOf(const session::NonfiniteCounts& counts) {
  Words kinds;  // in the oracle's order
  if (counts.nan) kinds.push_back("NaN");
  if (counts.plusInf) kinds.push_back("+inf");
  if (counts.minusInf) kinds.push_back("-inf");
  return kinds;
}

bool isHealthy(const RunOutcome& outcome) {
  return outcome.run.nonfiniteOrigins.empty() && outcome.run.consequenceSites == 0 && outcome.run.flips.empty() && !outcome.run.candidateError;
}

class ReportedFault : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, ReportedFault,
                         testing::Values("attention_qk_overflow", "vae_conv_overflow", "ffn_wo_overflow", "layernorm_pow_control", "clamp_then_log",
                                         "router_flip", "box_area_overflow", "bce_refused", "eps_lost", "norm_underflow", "variance_cancelled",
                                         "probability_underflow"),
                         [](const auto& model) { return model.param; });

TEST_P(ReportedFault, StartsAtTheOpAndSamplesOfTheOracle) {
  const auto expected = tests::expectedOf(GetParam()).at("first_nonfinite");
  const RunOutcome outcome = tests::runOf(requestFor(GetParam()));
  if (expected.is_null()) {
    EXPECT_THAT(outcome.run.nonfiniteOrigins, IsEmpty());
    EXPECT_EQ(outcome.run.consequenceSites, 0);
    return;
  }
  ASSERT_THAT(outcome.run.nonfiniteOrigins, Not(IsEmpty()));
  const auto& first = outcome.run.nonfiniteOrigins.front();
  EXPECT_EQ(first.op, expected.at("op"));
  EXPECT_EQ(first.modulePath, expected.at("module"));
  EXPECT_THAT(first.sampleIds, ElementsAreArray(expected.at("sample_ids").get<Words>()));
  EXPECT_THAT(kindsOf(first.counts), ElementsAreArray(expected.at("values").get<Words>()));
}

TEST_P(ReportedFault, HasTheRootCauseOfTheOracle) {
  const auto expected = tests::expectedOf(GetParam());
  if (expected.at("first_nonfinite").is_null()) return;
  const auto first = tests::runOf(requestFor(GetParam())).run.nonfiniteOrigins.front();
  ASSERT_EQ(first.rootCause.has_value(), !expected.at("root_cause").is_null()) << (first.rootCause ? first.rootCause->op + ": " + first.rootCause->why : "none");
  if (!first.rootCause) return;
  EXPECT_EQ(first.rootCause->op, expected.at("root_cause").at("op"));
  EXPECT_EQ(first.rootCause->modulePath, expected.at("root_cause").at("module"));
  EXPECT_THAT(first.diagnosis, HasSubstr("lost in " + first.rootCause->modulePath));
}

// By mechanism: what was lost, in words that name the numbers.
TEST(RootCauses, SayWhatWasLost) {
  const auto why = [](const std::string& model) { return tests::runOf(requestFor(model)).run.nonfiniteOrigins.front().rootCause.value().why; };
  EXPECT_EQ(why("clamp_then_log"), "its bound 0.9999 rounds to 1 in float16");
  EXPECT_EQ(why("eps_lost"), "its 1e-08 rounds to 0 in float16");
  EXPECT_THAT(why("norm_underflow"), HasSubstr("its result underflows"));
  EXPECT_THAT(why("probability_underflow"), HasSubstr("its result underflows"));
  EXPECT_THAT(why("variance_cancelled"), HasSubstr("its operands cancel"));
  EXPECT_EQ(tests::runOf(requestFor("variance_cancelled")).run.nonfiniteOrigins.front().rootCause->occurrence, 1);
}

// The first NaN and the first infinity are answers of their own, origins or not.
TEST(FirstValues, AreTheFirstNaNAndTheFirstInfinityOfAll) {
  const session::RunRecord run = tests::runOf(requestFor("attention_qk_overflow")).run;
  ASSERT_TRUE(run.firstInf && run.firstNan);
  EXPECT_EQ(run.sites[static_cast<std::size_t>(run.firstInf->site)].op, "aten::matmul");
  EXPECT_LT(run.firstInf->site, run.firstNan->site);
  EXPECT_EQ(run.sites[static_cast<std::size_t>(run.firstNan->site)].role, session::NonfiniteRole::consequence);
  EXPECT_EQ(run.firstInf->sampleIds, run.nonfiniteOrigins.front().sampleIds);
}

class ReportedDecisions : public ReportedFault {};
INSTANTIATE_TEST_SUITE_P(Models, ReportedDecisions,
                         testing::Values("attention_qk_overflow", "ffn_wo_overflow", "layernorm_pow_control", "router_flip", "box_area_overflow", "eps_lost",
                                         "norm_underflow", "variance_cancelled", "probability_underflow"),
                         [](const auto& model) { return model.param; });

TEST_P(ReportedDecisions, ChangeInTheSamplesOfTheOracle) {
  const auto expected = tests::expectedOf(GetParam());
  const RunOutcome outcome = tests::runOf(requestFor(GetParam()));
  EXPECT_THAT(flippedSamples(outcome), ElementsAreArray(expected.at("flips").get<Words>()));
  EXPECT_THAT(outcome.run.noDecision, ElementsAreArray(expected.at("no_decision").get<Words>()));
}

TEST_P(ReportedFault, IsCuredByTheNamedModulesInFp32) {
  const auto expected = tests::expectedOf(GetParam());
  for (const auto& cure : expected.at("cures")) {
    const auto outcome = runWithFp32(GetParam(), cure);
    if (!outcome) continue;
    EXPECT_TRUE(isHealthy(*outcome)) << cure.dump();
    EXPECT_THAT(outcome->run.noDecision, IsEmpty()) << cure.dump();
    EXPECT_EQ(outcome->run.samplesComplete, std::ssize(outcome->samples.ids)) << cure.dump();
  }
}

TEST_P(ReportedFault, IsNotCuredByOtherModulesInFp32) {
  const auto expected = tests::expectedOf(GetParam());
  for (const auto& other : expected.at("no_cures")) {
    const auto outcome = runWithFp32(GetParam(), other);
    ASSERT_TRUE(outcome.has_value()) << other.dump();
    EXPECT_FALSE(isHealthy(*outcome)) << other.dump();
    if (expected.at("first_nonfinite").is_null()) {
      EXPECT_EQ(flippedSamples(*outcome), expected.at("flips").get<Words>()) << other.dump();
    }
  }
}

TEST_P(ReportedFault, IsFiniteUnderBfloat16WhereTheOracleIs) {
  session::RunRequest request = requestFor(GetParam());
  request.settings.autocast = base::DType::bfloat16;
  EXPECT_EQ(tests::runOf(request).run.nonfiniteOrigins.empty(), tests::expectedOf(GetParam()).at("finite_under_bfloat16").get<bool>());
}

// The samples in another order, in batches of another make-up: no flip moves whose margin exceeds FP32's own noise.
TEST(PermutedSamples, FlipAsBefore) {
  session::RunRequest request = requestFor("router_flip");
  request.settings.noiseFloor = true;
  request.settings.batchSize = 4;
  const RunOutcome straight = tests::runOf(request);
  torch::jit::Module inputs = torch::jit::load(request.inputsPath);
  const at::Tensor x = inputs.attr("token").toTensor();
  const std::int64_t count = x.size(0);
  torch::jit::Module turned("Turned");
  turned.register_buffer("token", x.flip(0).contiguous());
  const tests::ScratchFolder folder;
  request.inputsPath = folder.file("turned.pt");
  turned.save(request.inputsPath);
  const RunOutcome reversed = tests::runOf(request);
  const auto beyondNoise = [](const RunOutcome& outcome, auto sampleOf) {
    std::vector<std::int64_t> samples;
    for (const auto& flip : outcome.run.flips)
      if (!flip.withinNoiseFloor) samples.push_back(sampleOf(flip.sample));
    std::sort(samples.begin(), samples.end());
    return samples;
  };
  const auto before = beyondNoise(straight, [](std::int64_t s) { return s; });
  EXPECT_THAT(before, Not(IsEmpty()));
  EXPECT_EQ(beyondNoise(reversed, [&](std::int64_t s) { return count - 1 - s; }), before);
}

// [1] has boxes of 168,000 to 235,000 that share 162,240; [3] one of 420,000 that touches none; in [2] areas of 48,000 and
// 46,256 fit half and their sum does not.
TEST(BoxAreas, AreOriginsOfEachSampleWhereItOverflowsFirst) {
  const RunOutcome outcome = tests::runOf(requestFor("box_area_overflow"));
  std::vector<std::pair<std::string, Words>> origins;
  for (const auto& origin : outcome.run.nonfiniteOrigins) origins.emplace_back(origin.op, origin.sampleIds);
  EXPECT_THAT(origins, ElementsAre(Pair("aten::mul", ElementsAre("1", "3")), Pair("aten::mul", ElementsAre("1", "3")), Pair("aten::add", ElementsAre("2"))));
}

TEST(RefusedLoss, RaisesWithPyTorchsWords) {
  const auto expected = tests::expectedOf("bce_refused").at("refused");
  for (const auto autocast : {base::DType::float16, base::DType::bfloat16}) {
    session::RunRequest request = requestFor("bce_refused");
    request.settings.autocast = autocast;
    const RunOutcome outcome = tests::runOf(request);
    ASSERT_TRUE(outcome.run.candidateError.has_value());
    EXPECT_EQ(outcome.run.candidateError->op, expected.at("op"));
    EXPECT_EQ(outcome.run.candidateError->modulePath, expected.at("module"));
    for (const auto& words : expected.at("words")) EXPECT_THAT(outcome.run.candidateError->message, HasSubstr(words.get<std::string>()));
  }
}

TEST(RefusedLoss, RunsWhereItsModuleHasAutocastOff) {
  session::RunRequest request = requestFor("bce_refused");
  request.settings.disable = tests::expectedOf("bce_refused").at("cures_by_disable").at(0).get<Words>();
  EXPECT_TRUE(isHealthy(tests::runOf(request)));
}

}  // namespace
}  // namespace ulpscope::engine
