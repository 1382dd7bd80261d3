// Runs that part, and tensors that are overwritten after they were recorded: models of tests/support/fixtures/lockstep.py.
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"
#include "tests/support/stored_elements.h"

#include <gmock/gmock.h>

#include <chrono>
#include <ctime>

namespace ulpscope::engine {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::runOf;
using tests::siteAt;

session::RunRequest lockstep(const std::string& name, int batchSize = 32) {
  session::RunRequest request = tests::requestFor("lockstep/" + name);
  request.settings.batchSize = batchSize;
  return request;
}

base::Error errorOf(const session::RunRequest& request) {
  Engine engine;
  const auto outcome = engine.run(request, {}, {});
  EXPECT_FALSE(outcome.ok());
  return outcome.ok() ? base::Error{} : outcome.error();
}

std::vector<std::string> controlFlowOf(const RunOutcome& outcome) {
  std::vector<std::string> texts;
  for (const auto& finding : outcome.run.controlFlow) texts.push_back(finding.op + " " + finding.what);
  return texts;
}

double maxAbsAt(const RunOutcome& outcome, const std::string& module, const std::string& op, std::int64_t sample) {
  return outcome.metrics[session::Metric::maxAbs].at(siteAt(outcome, module, op), sample);
}

const storage::OutputTensors& outputOf(const RunOutcome& outcome, const std::string& name) {
  static const storage::OutputTensors none{"", {}, {base::DType::float32, std::vector<std::byte>(256)}, {base::DType::float32, std::vector<std::byte>(256)}};
  for (const auto& output : outcome.outputs)
    if (output.name == name) return output;
  ADD_FAILURE() << "no output " << name;
  return none;
}

TEST(Branch, TakenByOneRunOnlyIsToldAndTheRestStaysAligned) {
  const RunOutcome outcome = runOf(lockstep("Branch"));
  EXPECT_THAT(controlFlowOf(outcome), ElementsAre("aten::mul ran in the reference only", "aten::add ran in the candidate only"));
  // 2049 * 2 = 4098 against 2048 + 1, which half rounds to 2048.
  EXPECT_EQ(maxAbsAt(outcome, "", "aten::relu", 1), 2050);
  EXPECT_EQ(outcome.run.samplesComplete, 4);
}

TEST(Loop, WithOtherTripCountsHasTheExtraRoundsAlone) {
  const RunOutcome outcome = runOf(lockstep("TripCount"));
  EXPECT_THAT(controlFlowOf(outcome), ElementsAre("aten::mul ran in the reference only"));
  EXPECT_EQ(maxAbsAt(outcome, "", "aten::relu", 1), 2049 * 8 - 2048 * 4);  // three rounds against two
  const RunOutcome condition = runOf(lockstep("WhileLoop"));
  EXPECT_EQ(maxAbsAt(condition, "", "aten::relu", 1), 1024 - 512.25);
}

TEST(DataDependentShapes, ThatDifferAreAFindingAndNoNumbers) {
  const RunOutcome outcome = runOf(lockstep("Selected"));
  EXPECT_THAT(controlFlowOf(outcome), testing::Contains("aten::masked_select output is [8] in the reference, [0] in the candidate"));
  EXPECT_THAT(controlFlowOf(outcome), testing::Contains("aten::nonzero output is [8, 2] in the reference, [0, 2] in the candidate"));
  EXPECT_TRUE(std::isnan(maxAbsAt(outcome, "", "aten::masked_select", 0)));
  // What the selected elements add up to is compared again: 8 * 2049 against 0.
  EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(siteAt(outcome, "", "aten::sum"))].values[session::Metric::maxAbs], 8 * 2049);
}

TEST(Exceptions, InTheCandidateOnlyAreItsErrorAndNoControlFlow) {
  const RunOutcome outcome = runOf(lockstep("RaisesInHalf"));
  ASSERT_TRUE(outcome.run.candidateError.has_value());
  EXPECT_EQ(outcome.run.candidateError->message, "not in half");
  EXPECT_EQ(maxAbsAt(outcome, "a", "aten::linear", 1), 1);  // what ran before is kept
  EXPECT_THAT(outcome.run.controlFlow, IsEmpty());          // what the reference ran afterwards is no other way
}

TEST(Exceptions, InTheReferenceAreTheRunsError) {
  const base::Error only = errorOf(lockstep("RaisesInFloat"));
  EXPECT_EQ(only.kind, base::ErrorKind::run);
  EXPECT_THAT(only.message(), HasSubstr("the FP32 reference failed: not in float"));
  const base::Error both = errorOf(lockstep("RaisesAlways"));
  EXPECT_EQ(both.kind, base::ErrorKind::run);
  EXPECT_THAT(both.message(), HasSubstr("the FP32 reference failed: never"));
  session::RunRequest single = lockstep("TrainState", 1);
  single.settings.trainMode = true;  // BatchNorm refuses a batch of one with a ValueError, in a TorchScript function
  EXPECT_THAT(errorOf(single).message(), HasSubstr("the FP32 reference failed: Expected more than 1 value per channel when training"));
}

// An output whose length hangs on rounding cannot be compared; what else was found stays.
TEST(ControlFlow, AnOutputOfAnotherLengthIsAFindingAndNoFailure) {
  session::RunRequest request = lockstep("SelectedOutput");
  request.settings.decision = session::parseDecisionRule("argmax").value();
  const RunOutcome outcome = runOf(request);
  EXPECT_FALSE(outcome.run.sites.empty());
  EXPECT_TRUE(outcome.run.decisions.empty());
  EXPECT_THAT(outcome.run.controlFlow, testing::Contains(testing::Field(&session::ControlFlowFinding::op, "output 'output'")));
  EXPECT_FALSE(outcome.run.outputs.at(0).relL2.has_value());
}

TEST(Cancel, InTheMiddleEndsAtOnce) {
  for (const std::string stage : {"finding sample axes", "running"}) {
    std::stop_source stop;
    std::clock_t asked = 0;
    int calls = 0;
    RunHooks hooks;
    hooks.progress = [&](const base::Progress& progress) {
      if (asked || progress.stage != stage || (stage == "running" && ++calls < 10)) return;
      stop.request_stop();
      asked = std::clock();
    };
    Engine engine;
    const auto outcome = engine.run(lockstep("ManyOps"), hooks, stop.get_token());
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().kind, base::ErrorKind::cancelled);
    EXPECT_LT(static_cast<double>(std::clock() - asked) / CLOCKS_PER_SEC, 0.2) << stage;
  }
}

class Overwritten : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Overwritten, testing::Values("InPlaceChain", "Views", "CalledTwice"), [](const auto& model) { return model.param; });

TEST_P(Overwritten, EachSiteHasTheNumbersOfItsOwnMoment) {
  for (const int batchSize : {1, 2, 5}) {
    SCOPED_TRACE(batchSize);
    const RunOutcome outcome = runOf(lockstep(GetParam(), batchSize));
    for (const auto& site : tests::sitesOf("lockstep/" + GetParam())) tests::expectNumbers(outcome, site);
  }
}

class WritesItsOperand : public testing::TestWithParam<std::pair<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(Models, WritesItsOperand,
                         testing::Values(std::pair("SquaresItself", "aten::mul_"), std::pair("DoublesItself", "aten::mul")),
                         [](const auto& model) { return model.param.first; });

TEST_P(WritesItsOperand, AndIsStillTheOriginOfWhatItMakes) {
  const RunOutcome outcome = runOf(lockstep(GetParam().first));
  ASSERT_FALSE(outcome.run.nonfiniteOrigins.empty());
  const auto& first = outcome.run.nonfiniteOrigins.front();
  EXPECT_EQ(first.op, GetParam().second);
  EXPECT_THAT(first.sampleIds, ElementsAre("1"));  // 300 * 300
  EXPECT_EQ(first.cause, "overflow");
  for (const auto& operand : first.operands) EXPECT_EQ(operand.range.maxAbs, 300) << operand.name;
  // By itself the op rounds nothing that is finite: 2 * 2 and 7 * 7 are exact.
  EXPECT_EQ(outcome.run.sites[static_cast<std::size_t>(first.site)].values[session::Metric::introducedRelL2], 0);
}

TEST(TrainState, IsEachRunsOwn) {
  session::RunRequest request = lockstep("TrainState");
  request.settings.trainMode = true;
  const RunOutcome one = runOf(request);
  const std::vector<float> first(6, 1);
  EXPECT_THAT(tests::floatsOf(outputOf(one, "output.1").reference), ElementsAreArray(first));  // probing axes and running ops again count nowhere
  EXPECT_THAT(tests::floatsOf(outputOf(one, "output.1").candidate), ElementsAreArray(first));
  // 0.9 * 0 + 0.1 * the batch's mean: of 3, 2049, 5, 2047, 4, 2050 in FP32, with 2048 for 2049 in half.
  const auto& mean = one.run.sites.at(static_cast<std::size_t>(siteAt(one, "", "aten::add", 1)));
  EXPECT_NEAR(mean.values[session::Metric::referenceMaxAbs], 0.1 * 6158 / 6, 1e-4);
  EXPECT_NEAR(mean.values[session::Metric::candidateMaxAbs], 0.1 * 6157 / 6, 1e-4);
  request.settings.batchSize = 3;
  const RunOutcome two = runOf(request);
  EXPECT_THAT(tests::floatsOf(outputOf(two, "output.1").reference), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(tests::floatsOf(outputOf(two, "output.1").candidate), ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST(RandomNumbers, AreTheSameInBothRuns) {
  session::RunRequest request = lockstep("Random");
  request.settings.trainMode = true;
  request.settings.verifyProbe = true;
  const RunOutcome outcome = runOf(request);
  EXPECT_EQ(outcome.run.probeCheck, "identical");
  ASSERT_EQ(outcome.run.outputs.size(), 6U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome.run.outputs[i].differingElements, 0) << outcome.run.outputs[i].name;
    EXPECT_EQ(outcome.run.outputs[i].elements, 32);
  }
  for (std::size_t i = 2; i < 6; ++i) EXPECT_LT(outcome.run.outputs[i].relL2.value(), 0.01) << outcome.run.outputs[i].name;
}

TEST(RandomNumbers, DrawnInsideAnOpAreTheSameInBothRuns) {
  session::RunRequest request = lockstep("RandomLstm");
  request.settings.trainMode = true;
  request.settings.verifyProbe = true;
  const RunOutcome outcome = runOf(request);
  EXPECT_EQ(outcome.run.probeCheck, "identical");
  EXPECT_LT(outcome.run.outputs.at(0).relL2.value(), 0.01);
  EXPECT_GT(outcome.run.outputs.at(0).relL2.value(), 0);
}

TEST(OwnInputs, ThatTheModelWritesAreFreshInEachRunAndBatch) {
  for (const int batchSize : {1, 2, 4}) {
    session::RunRequest request = lockstep("WritesInputs", batchSize);
    request.settings.batchAxis["scale"] = -1;
    const RunOutcome outcome = runOf(request);
    const auto& output = outputOf(outcome, "output");
    for (std::size_t sample = 0; sample < 4; ++sample) {
      const float x = std::vector<float>{3, 2049, 5, 2047}[sample];
      EXPECT_EQ(tests::floatsOf(output.reference).at(sample * 8), 2 * x * 6) << batchSize << ", sample " << sample;
      // 4098 rounds to 4096, a tie to even; float32 times half is float32.
      EXPECT_EQ(tests::floatsOf(output.candidate).at(sample * 8), (x == 2049 ? 4096 : 2 * x) * 6) << batchSize << ", sample " << sample;
    }
  }
}

TEST(Print, OfAModelDisturbsNothing) {
  EXPECT_EQ(maxAbsAt(runOf(lockstep("Prints")), "a", "aten::linear", 1), 1);
}

TEST(Fork, OfAModuleIsInlined) {
  EXPECT_EQ(maxAbsAt(runOf(lockstep("ForkInModule")), "a", "aten::linear", 1), 1);
}

TEST(Fork, KeptInAListIsRefusedByName) {
  const base::Error error = errorOf(lockstep("ForksInList"));
  EXPECT_EQ(error.kind, base::ErrorKind::input);
  EXPECT_THAT(error.message(), HasSubstr("torch.jit.fork whose future is not waited for directly in ForksInList.forward"));
}

}  // namespace
}  // namespace ulpscope::engine
