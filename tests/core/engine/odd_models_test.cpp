// Models that are each odd in one way (tests/support/fixtures/odd.py).
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"

#include <unistd.h>

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

session::RunRequest odd(const std::string& name) { return tests::requestFor("odd/" + name); }

RunOutcome runOf(const session::RunRequest& request) {
  Engine engine;
  auto outcome = engine.run(request, {}, {});
  EXPECT_TRUE(outcome.ok()) << outcome.error().message();
  return outcome.ok() ? std::move(outcome).value() : RunOutcome{};
}

base::Error errorOf(const session::RunRequest& request) {
  Engine engine;
  const auto outcome = engine.run(request, {}, {});
  EXPECT_FALSE(outcome.ok());
  return outcome.ok() ? base::Error{} : outcome.error();
}

base::DType dtypeAt(const RunOutcome& outcome, const std::string& module, const std::string& op) {
  for (const auto& site : outcome.run.sites)
    if (site.modulePath == module && site.op == op) return site.candidateDtype;
  ADD_FAILURE() << "no " << op << " in " << module;
  return base::DType::float64;
}

TEST(OwnAutocast, DisabledForCudaIsObeyed) {
  const RunOutcome outcome = runOf(odd("OwnCudaOff"));
  EXPECT_EQ(dtypeAt(outcome, "a", "aten::linear"), base::DType::float32);
  EXPECT_EQ(dtypeAt(outcome, "b", "aten::linear"), base::DType::float16);
  EXPECT_THAT(outcome.run.unresolvedCalls, IsEmpty());
}

TEST(OwnAutocast, AnotherDtypeForCudaIsObeyed) {
  const RunOutcome outcome = runOf(odd("OwnCudaBfloat16"));
  EXPECT_EQ(dtypeAt(outcome, "a", "aten::linear"), base::DType::bfloat16);
  EXPECT_EQ(dtypeAt(outcome, "b", "aten::linear"), base::DType::float16);
  EXPECT_THAT(outcome.run.nonfiniteOrigins, IsEmpty());
}

TEST(OwnAutocast, ForTheCpuChangesNothingOnCuda) {
  EXPECT_EQ(dtypeAt(runOf(odd("OwnCpuOff")), "a", "aten::linear"), base::DType::float16);
}

TEST(OwnHalf, ComputesInHalfInBothRunsAndIsNamed) {
  session::RunRequest request = odd("OwnHalf");
  request.settings.verifyProbe = true;
  const RunOutcome outcome = runOf(request);
  EXPECT_THAT(outcome.run.warnings, testing::Contains(HasSubstr("not pure FP32: the model's own code computes in 16 bits in both runs, first at aten::to in the root module")));
  EXPECT_EQ(outcome.run.probeCheck, "identical");
  ASSERT_TRUE(outcome.run.noiseFloor.has_value());
  EXPECT_EQ(outcome.run.noiseFloor->skipped, "");
  for (const auto& site : outcome.run.sites)
    if (site.op == "aten::relu" || site.op == "aten::sum") {
      EXPECT_EQ(site.referenceDtype, base::DType::float16);
      EXPECT_EQ(site.candidateDtype, base::DType::float16);
      EXPECT_EQ(site.values[session::Metric::maxAbs], 0);
      EXPECT_EQ(site.values[session::Metric::referenceMax], site.op == "aten::relu" ? 2048 : 8);
    }
}

TEST(ConvSame, RunsInHalfThroughTheConvolutionItCalls) {
  const RunOutcome outcome = runOf(odd("ConvSame"));
  EXPECT_FALSE(outcome.run.candidateError.has_value());
  EXPECT_EQ(dtypeAt(outcome, "first", "aten::conv2d"), base::DType::float16);
  EXPECT_EQ(dtypeAt(outcome, "second", "aten::conv2d"), base::DType::float16);
}

TEST(Stack, KeepsHalf) { EXPECT_EQ(dtypeAt(runOf(odd("Stack")), "", "aten::stack"), base::DType::float16); }

TEST(ZeroDimTensors, OnTheHostAreReadUnrounded) {
  const RunOutcome outcome = runOf(odd("HostScalar"));
  ASSERT_EQ(outcome.run.nonfiniteOrigins.size(), 1U);
  EXPECT_THAT(outcome.run.nonfiniteOrigins[0].sampleIds, ElementsAre("1"));  // 0.7 * 1e5 = 70,000; 40,000 and 10,000 fit
  EXPECT_EQ(outcome.run.nonfiniteOrigins[0].cause, "overflow");
}

TEST(ZeroDimTensors, OnTheDeviceAreRoundedFirst) {
  const RunOutcome outcome = runOf(odd("DeviceScalar"));
  ASSERT_EQ(outcome.run.nonfiniteOrigins.size(), 1U);
  EXPECT_THAT(outcome.run.nonfiniteOrigins[0].sampleIds, ElementsAre("0", "1", "2"));
  EXPECT_EQ(outcome.run.nonfiniteOrigins[0].cause, "overflow in the cast of operand 'other'");
}

TEST(Parameters, WrittenInPlaceAreAnErrorThatNamesThem) {
  Engine engine;
  for (int i = 0; i < 2; ++i) {
    const auto outcome = engine.run(odd("WritesParameter"), {}, {});
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().kind, base::ErrorKind::run);
    EXPECT_THAT(outcome.error().message(), HasSubstr("a.weight: the model writes its parameter in place"));
  }
}

TEST(SaturatedOutputs, StillHaveAnAxisThatCountsSamples) {
  session::RunRequest request = odd("Saturated");
  request.settings.decision.kind = session::DecisionRule::Kind::argmax;
  const RunOutcome outcome = runOf(request);
  EXPECT_EQ(outcome.run.decisions.size(), 6U);
  EXPECT_THAT(outcome.run.flips, IsEmpty());
}

// Six samples, scores of three classes each.
class Classes : public testing::Test {
 protected:
  ~Classes() override { std::filesystem::remove(m_path); }
  session::RunRequest with(const std::string& lines, bool areNames = false, const char* rule = "argmax") {
    std::ofstream(m_path) << lines;
    session::RunRequest request = odd("WritesInput");
    (areNames ? request.classNamesPath : request.labelsPath) = m_path;
    request.settings.decision = session::parseDecisionRule(rule).value();
    return request;
  }
  std::string m_path = testing::TempDir() + "ulpscope_classes_" + std::to_string(::getpid()) + ".txt";
};

TEST_F(Classes, RefuseALabelThatIsNoneOfThem) {
  for (const auto& [lines, label] : {std::pair{"0\n1\n2\n0\n99\n3\n", "99"}, {"0\n1\n2\n0\n3\n-7\n", "3"}, {"0\n1\n2\n0\n-100\n1\n", "-100"}}) {
    const base::Error error = errorOf(with(lines));
    EXPECT_EQ(error.kind, base::ErrorKind::input);
    EXPECT_EQ(error.message(), m_path + ": label " + label + " of sample '4' is none of the 3 classes (0 to 2) that --decision argmax reads off output 'output'; " +
                                   "label every sample with one of them or leave the sample out; an ignore_index such as -100 means something to a loss only");
  }
  EXPECT_EQ(runOf(with("0\n1\n2\n0\n2\n1\n")).run.quality->labelled, 6) << "the last class is one";
}

TEST_F(Classes, AskNothingOfLabelsThatNoDecisionIsHeldAgainst) {
  EXPECT_TRUE(runOf(with("0\n1\n2\n0\n99\n1\n", false, "none")).run.flips.empty());
  const base::Error error = errorOf(with("0\n1\n2\n0\n99\n1\n", false, "topk:2"));
  EXPECT_THAT(error.message(), HasSubstr("label 99 of sample '4'"));
  // Three scores a sample, each above or below: no label tells which is right.
  EXPECT_TRUE(runOf(with("0\n1\n2\n0\n99\n1\n", false, "threshold:0")).run.candidateError == std::nullopt);
}

TEST_F(Classes, RefuseFewerNamesThanThereAreScores) {
  const base::Error error = errorOf(with("cat\ndog\n", true));
  EXPECT_EQ(error.kind, base::ErrorKind::input);
  EXPECT_EQ(error.message(), m_path + ": holds 2 class names, and output 'output' scores 3 classes; give every class a name, in the order of the scores");
  EXPECT_EQ(runOf(with("cat\ndog\nemu\n", true)).run.decisions.size(), 6U);
}

TEST_F(Classes, ThatAreMissedAreToldBeforeAllSamplesRan) {
  session::RunRequest request = with("0\n1\n2\n0\n99\n1\n");
  request.settings.batchSize = 2;
  std::int64_t done = 0;
  RunHooks hooks;
  hooks.progress = [&](const base::Progress& progress) { done = std::max(done, progress.done); };
  Engine engine;
  const auto outcome = engine.run(request, hooks, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_LT(done, 6);
}

TEST(IntegerOutputs, CountTheElementsThatDiffer) {
  const RunOutcome outcome = runOf(odd("IntegerOutput"));
  const auto& output = outcome.run.outputs.at(0);
  EXPECT_EQ(output.elements, 18);
  EXPECT_GT(output.differingElements, 0);
  EXPECT_FALSE(output.maxAbs.has_value());
}

TEST(IntegerOutputs, AreNoScoresToDecideBy) {
  session::RunRequest request = odd("IntegerOutput");
  request.settings.decision.kind = session::DecisionRule::Kind::argmax;
  EXPECT_THAT(errorOf(request).message(), HasSubstr("no output has floating-point scores: 'output'"));
}

TEST(Decisions, OffAnOutputWithoutASampleAxisSendNobodyToTheBatchSizeTheyHave) {
  session::RunRequest request = odd("SumsBatch");
  request.settings.decision.kind = session::DecisionRule::Kind::argmax;
  EXPECT_THAT(errorOf(request).message(), EndsWith("no axis of it counts the samples one by one, so no decision can be read; choose another --decision-output, or try --batch-size 1"));
  request.settings.batchSize = 1;
  EXPECT_THAT(errorOf(request).message(), EndsWith("; choose another --decision-output"));
}

TEST(TrainMode, DrawsTheSameMasksInBothRuns) {
  session::RunRequest request = odd("TrainMode");
  request.settings.trainMode = true;
  request.settings.verifyProbe = true;
  const RunOutcome outcome = runOf(request);
  EXPECT_EQ(outcome.run.probeCheck, "identical");
  EXPECT_EQ(dtypeAt(outcome, "drop", "aten::dropout"), base::DType::float16);
  EXPECT_LT(outcome.run.outputs.at(0).relL2.value(), 0.01);  // another mask would give about 1
}

TEST(OwnInputs, AreEachRunsOwnWhenTheModelWritesThem) {
  session::RunRequest request = odd("WritesInput");
  request.settings.verifyProbe = true;
  const RunOutcome outcome = runOf(request);
  EXPECT_EQ(outcome.run.probeCheck, "identical");
  EXPECT_LT(outcome.run.outputs.at(0).relL2.value(), 0.01);
}

TEST(ControlFlow, ThatHangsOnAnOverflowIsAFindingNotAMisalignment) {
  const RunOutcome outcome = runOf(odd("BranchOnOverflow"));
  ASSERT_FALSE(outcome.run.controlFlow.empty());
  EXPECT_EQ(outcome.run.controlFlow.front().op, "aten::sum");
  EXPECT_EQ(outcome.run.controlFlow.front().what, "ran in the reference only");
  EXPECT_EQ(outcome.run.nonfiniteOrigins.at(0).op, "aten::mul");
}

TEST(Candidate, ThatRaisesIsAFindingAlsoWhenADecisionWasAskedFor) {
  session::RunRequest request = odd("RaisesInHalf");
  request.settings.decision.kind = session::DecisionRule::Kind::argmax;
  const RunOutcome outcome = runOf(request);
  ASSERT_TRUE(outcome.run.candidateError.has_value());
  EXPECT_EQ(outcome.run.candidateError->message, "not in half");
  EXPECT_EQ(outcome.run.status, session::RunStatus::partial);
  EXPECT_EQ(outcome.run.samplesComplete, 0);
}

TEST(Mask, OfMinusInfinityRaisesNoAlarm) {
  const RunOutcome outcome = runOf(odd("Mask"));
  EXPECT_THAT(outcome.run.nonfiniteOrigins, IsEmpty());
  EXPECT_THAT(outcome.run.warnings, IsEmpty());
  ASSERT_FALSE(outcome.run.referenceNonfinite.empty());
  EXPECT_THAT(outcome.run.referenceNonfinite.front().cause, HasSubstr("mask"));
}

TEST(Fork, IsInlinedAndFollowed) {
  session::RunRequest request = odd("Fork");
  request.settings.verifyProbe = true;
  const RunOutcome outcome = runOf(request);
  EXPECT_EQ(outcome.run.probeCheck, "identical");
  EXPECT_EQ(dtypeAt(outcome, "a", "aten::linear"), base::DType::float16);
}

// FP32 has the dtype already, so that the cast is a view there; in half it is where the overflow is made.
TEST(OddModels, ACastThatOneRunAloneMakesIsAnOpOfItsOwn) {
  const session::RunRecord run = tests::runOf(tests::requestFor("odd/CastOverflow")).run;
  ASSERT_FALSE(run.nonfiniteOrigins.empty());
  EXPECT_EQ(run.nonfiniteOrigins.front().op, "aten::to");
  EXPECT_EQ(run.nonfiniteOrigins.front().cause, "overflow");
}

// The -inf that the mask writes is meant, the NaN that comes of it is not.
TEST(OddModels, ANaNMadeOfAMasksInfinityIsNoBaseline) {
  const session::RunRecord run = tests::runOf(tests::requestFor("odd/MaskedRow")).run;
  ASSERT_EQ(run.referenceNonfinite.size(), 2U);
  EXPECT_EQ(run.referenceNonfinite[0].op, "aten::masked_fill");
  EXPECT_EQ(run.referenceNonfinite[0].explainedBy, "a mask's constant");
  EXPECT_EQ(run.referenceNonfinite[1].op, "aten::softmax");
  EXPECT_EQ(run.unexplained(), &run.referenceNonfinite[1]);
}

}  // namespace
}  // namespace ulpscope::engine
