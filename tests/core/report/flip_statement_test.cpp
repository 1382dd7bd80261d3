// Intervals: Clopper and Pearson's, by scipy.stats.beta.ppf (1.10): 3 of 254: 0.244 % to 3.413 %; 0 of 254: 1 - 0.05^(1/254) = 1.172 %.
#include "core/report/flip_statement.h"

#include "sample_run.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace ulpscope::report {
namespace {

using session::DecisionRule;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// 256 samples, s5, s17 and s142 flip, s1 and s2 have no decision; the errors are 0.001 but for s200, which has the largest.
class Statement : public testing::Test {
 protected:
  Statement() {
    for (auto& d : run().decisions) d.maxError = 0.001;
    run().decisions[200].maxError = 0.004;
    decide(5, 0.0004);
    decide(17, 0.0019);
    decide(142, 0.009);
    decide(90, 0.008);
  }
  session::RunRecord& run() { return m_session.runs.front(); }
  void decide(std::size_t sample, double margin) { run().decisions[sample].referenceMargin = margin; }
  FlipFacts facts() { return flipFacts(m_session, run()); }
  FlipStatement statement(double below = kInf) { return flipStatement(m_session, run(), below); }
  std::string sentence(double below = kInf) { return statement(below).sentence; }

  session::Session m_session = test::sampleSession();
};

TEST_F(Statement, CountsEverySampleOnce) {
  const FlipFacts f = facts();
  EXPECT_EQ(f.asked, 256);
  EXPECT_EQ(f.decided, 254);
  EXPECT_EQ(f.noDecision, 2);
  EXPECT_EQ(f.flips, 3);
  EXPECT_EQ(f.regressed, 1);
  EXPECT_EQ(f.possible, 2) << "s5 and s17 have margins of at most 2 x 0.001; s142 has a larger one, so its flip shows an error that the set does not have";
  EXPECT_DOUBLE_EQ(f.largestFlipMargin, 0.009);
  EXPECT_DOUBLE_EQ(f.impossibleBeyond, 0.008) << "twice the largest error";
  EXPECT_EQ(f.unbounded, 0);
}

TEST_F(Statement, DrawsTheLimitOfAThresholdAtOneError) {
  run().settings.decision.kind = DecisionRule::Kind::threshold;
  EXPECT_DOUBLE_EQ(facts().impossibleBeyond, 0.004);
  EXPECT_EQ(facts().possible, 1) << "s5 alone";
}

TEST_F(Statement, HasNoLimitWithoutMarginsOrErrors) {
  run().settings.decision.kind = DecisionRule::Kind::exact;
  EXPECT_TRUE(std::isnan(facts().impossibleBeyond));
  EXPECT_TRUE(std::isnan(facts().largestFlipMargin));
  run().settings.decision.kind = DecisionRule::Kind::argmax;
  for (auto& d : run().decisions) d.maxError = kNan;
  run().decisions[7].maxError = kInf;
  EXPECT_TRUE(std::isnan(facts().impossibleBeyond));
  EXPECT_EQ(facts().unbounded, 254);
  EXPECT_EQ(facts().possible, 254) << "unknown counts as possible";
}

TEST_F(Statement, KeepsAnInfiniteErrorOutOfTheLimit) {
  run().decisions[7].maxError = kInf;
  EXPECT_DOUBLE_EQ(facts().impossibleBeyond, 0.008);
  EXPECT_EQ(facts().unbounded, 1);
}

TEST_F(Statement, CutsAtTheMarginWithoutIt) {
  EXPECT_EQ(marginCut(m_session, run(), 0.009).samples, 3) << "0.009 itself is not below";
  EXPECT_EQ(marginCut(m_session, run(), 0.009).flips, 2);
  EXPECT_EQ(marginCut(m_session, run(), 0.0091).flips, 3);
  EXPECT_EQ(marginCut(m_session, run(), kInf).samples, 254) << "samples without a decision have no margin";
  run().decisions[3].referenceMargin = kNan;
  EXPECT_EQ(marginCut(m_session, run(), kInf).samples, 253);
}

TEST_F(Statement, SaysRateEffectsMarginsAndWhatIsNotCounted) {
  EXPECT_EQ(sentence(), "Under FP16 autocast (emulated, policy cuda@1.13) 3 of 254 samples are decided otherwise than in FP32 (1.2 %, 95 % interval 0.2 % to 3.5 %); "
                        "1 regresses; the largest FP32 margin among them is 0.009; 2 samples have no decision under FP16 (NaN scores), not counted; on this set, with these weights.");
  EXPECT_TRUE(statement().isSignable);
}

TEST_F(Statement, SaysWhereTheFlipsLie) {
  EXPECT_THAT(sentence(0.01), HasSubstr("; 4 samples have an FP32 margin below 0.01, where all 3 flips lie; 2 samples have"));
  EXPECT_THAT(sentence(0.0005), HasSubstr("; 1 sample has an FP32 margin below 0.0005, 1 of the 3 flips lies there; 2 samples"));
  EXPECT_THAT(sentence(1e-6), HasSubstr("; no sample has an FP32 margin below 1e-06, no flip lies there; 2 samples"));
  EXPECT_THAT(statement(0.01).conditions, Contains(HasSubstr("chosen with the results in sight")));
  EXPECT_THAT(statement().conditions, Not(Contains(HasSubstr("in sight"))));
}

TEST_F(Statement, PromisesNoZeroWhereNothingFlips) {
  run().flips.clear();
  run().noDecision.clear();
  for (auto& d : run().decisions) d.candidateMargin = 0.5;
  EXPECT_EQ(sentence(), "Under FP16 autocast (emulated, policy cuda@1.13) 0 of 256 samples are decided otherwise than in FP32 (below 1.2 % with 95 % confidence); on this set, with these weights.");
  EXPECT_THAT(sentence(0.01), HasSubstr("4 samples have an FP32 margin below 0.01, none of them flips"));
}

TEST_F(Statement, GivesNoRateOfChosenSamples) {
  run().settings.onlySamples = {"s5", "s6", "s1"};
  EXPECT_EQ(facts().asked, 3);
  EXPECT_EQ(facts().decided, 2);
  EXPECT_THAT(sentence(), AllOf(HasSubstr("1 of 2 chosen samples is decided otherwise than in FP32 (they were chosen, so there is no rate)"), Not(HasSubstr("%"))));
  EXPECT_THAT(statement().conditions, Not(Contains(HasSubstr("interval"))));
}

TEST_F(Statement, HasNothingToSignWhereTheRunIsNotOne) {
  const auto refused = [this](const char* why) {
    EXPECT_FALSE(statement().isSignable) << why;
    EXPECT_THAT(statement().conditions, IsEmpty()) << why;
    EXPECT_THAT(sentence(), Not(HasSubstr("%"))) << why;
    return sentence();
  };
  run().status = session::RunStatus::cancelled;
  run().samplesComplete = 96;
  EXPECT_EQ(refused("cancelled"), "Not complete (cancelled, 96 of 256 samples compared): no statement. So far 3 of 254 samples flipped.");
  run().status = session::RunStatus::ok;
  run().probeCheck = "differs";
  EXPECT_THAT(refused("probe"), HasSubstr("Observing changed the outputs"));
  run().probeCheck = "identical";
  run().referenceNonfinite.emplace_back();
  EXPECT_THAT(refused("reference"), HasSubstr("FP32 itself has NaN or inf"));
  run().referenceNonfinite.front().explainedBy = "allowed: head";
  EXPECT_TRUE(statement().isSignable);
  run().candidateError = session::CandidateError{"aten::linear", "head", "no"};
  EXPECT_EQ(refused("raised"), "The FP16 run raised in head: nothing can be said of its decisions.");
  run().candidateError.reset();
  run().settings.decision.kind = DecisionRule::Kind::none;
  EXPECT_THAT(refused("none"), StartsWith("This run reads no decisions"));
}

TEST_F(Statement, SaysSoWhereNoSampleIsDecided) {
  run().flips.clear();
  for (auto& d : run().decisions) d.referenceMargin = kNan;
  EXPECT_EQ(facts().decided, 0);
  EXPECT_EQ(facts().noReferenceDecision, 256) << "autocast is not to blame for those that FP32 has not either";
  EXPECT_EQ(facts().noDecision, 0);
  EXPECT_EQ(sentence(), "No sample has a decision in both runs: nothing was compared, so no statement.");
}

TEST_F(Statement, CountsPositionsApartFromSamples) {
  run().flips[0].positions = {3, 9};
  run().flips[1].positions = {1};
  run().flips[2].positions = {2};
  run().noDecision.push_back("s5");  // at another of its positions
  EXPECT_EQ(facts().decided, 254);
  EXPECT_THAT(sentence(), HasSubstr("3 of 254 samples are decided otherwise than in FP32 at one position or more (4 positions) (1.2 %"));
}

TEST_F(Statement, TellsTiesAndNoiseApart) {
  run().flips[0].kind = "tie made";
  run().flips[1].withinNoiseFloor = true;
  decide(30, 0);
  run().settings.tie = session::TieRule::flag;
  EXPECT_THAT(sentence(), HasSubstr("; 1 regresses, 1 makes or breaks a tie, 1 is within FP32's own noise;"));
  EXPECT_THAT(statement().conditions, Contains("1 sample ties in FP32; tie rule: flag."));
}

TEST_F(Statement, NamesWhatWasKeptOutOfAutocast) {
  run().settings.fp32 = {"head", "block"};
  run().settings.disable = {"norm"};
  EXPECT_THAT(sentence(), StartsWith("Under FP16 autocast (emulated, policy cuda@1.13, kept in FP32: head, block, autocast off in: norm) 3 of"));
  run().settings.autocast = base::DType::bfloat16;
  run().settings.mode = session::Mode::native;
  EXPECT_THAT(sentence(), StartsWith("Under BF16 autocast (native, "));
  EXPECT_THAT(statement().conditions, Contains(HasSubstr("LibTorch's CPU kernels")));
}

TEST_F(Statement, StatesItsConditions) {
  EXPECT_THAT(statement().conditions, AllOf(Contains(StartsWith("The interval takes the samples as independent draws")), Contains(StartsWith("Emulated on a CPU")),
                                            Contains("Exploratory: no acceptance criteria were locked before this run."),
                                            Contains("FP32's own noise was not measured: some of these flips may be FP32's."),
                                            Contains("Model ffn.ts (code c0de, weights 3e19), inputs  (SHA-256 ), decision argmax, run_0001 of 2026-01-31T14:02:07Z.")));
  EXPECT_THAT(statement().conditions, Not(Contains(HasSubstr("candidates were tried"))));
  EXPECT_THAT(statement().text(), StartsWith(sentence() + "\nThe interval"));
}

TEST_F(Statement, SaysWhereARecordingWasMade) {
  run().settings.mode = session::Mode::recorded;
  run().settings.device = "cuda:0 (NVIDIA H200)";
  run().libtorchVersion = "2.6.0";
  EXPECT_THAT(statement().conditions, AllOf(Contains("Recorded on cuda:0 (NVIDIA H200) with PyTorch 2.6.0: other hardware or another PyTorch may decide otherwise."),
                                            Not(Contains(StartsWith("Emulated")))));
}

TEST_F(Statement, TellsCommonInputsFromChosenEdges) {
  m_session.samples.kinds.assign(256, "common");
  EXPECT_THAT(statement().conditions, Not(Contains(HasSubstr("edge or boundary"))));
  m_session.samples.kinds[0] = "edge";
  m_session.samples.kinds[9] = "boundary";
  EXPECT_THAT(statement().conditions, Contains("2 of the 256 samples are edge or boundary cases: the rate is not that of common inputs."));
}

TEST_F(Statement, TellsLockedCriteriaAndHowManyWereTried) {
  m_session.criteria.push_back({1, "2026-01-31T14:00:00Z", "ab", "{}", false, ""});
  run().verdict.emplace();
  run().verdict->status = session::JudgedAs::fail;
  run().verdict->revision = 1;
  m_session.runs.push_back(m_session.runs.front());
  EXPECT_THAT(statement().conditions, AllOf(Contains("Acceptance criteria: revision 1, locked 2026-01-31T14:00:00Z; verdict by revision 1: fail."),
                                            Contains("2 candidates were tried on these samples: the best of several looks better than it is.")));
  m_session.criteria.front().afterResults = true;
  EXPECT_THAT(statement().conditions, Contains(HasSubstr("written after results on these samples were known")));
}

TEST_F(Statement, OfARegressionIsOneOfErrors) {
  run().settings.decision.kind = DecisionRule::Kind::regression;
  EXPECT_FALSE(statement().isSignable);
  session::Regression r;
  r.candidateToReference = {0.001, 0.002, 0.25};
  r.elements = 512;
  r.notEvaluated = 1;
  r.worstSample = "s9";
  run().regression = r;
  EXPECT_EQ(sentence(0.01), "Under FP16 autocast (emulated, policy cuda@1.13) the output differs from FP32 by at most 0.25 (root mean square 0.002) over 512 values, most in sample s9; "
                            "1 value is not finite in one run or both, not counted; on this set, with these weights.");
  EXPECT_THAT(statement(0.01).conditions, Not(Contains(HasSubstr("interval"))));
}

TEST_F(Statement, OfExactDecisionsSpeaksOfNoMargins) {
  run().settings.decision.kind = DecisionRule::Kind::exact;
  for (auto& d : run().decisions) d.referenceMargin = kInf;
  EXPECT_THAT(sentence(0.01), Not(HasSubstr("margin")));
}

}  // namespace
}  // namespace ulpscope::report
