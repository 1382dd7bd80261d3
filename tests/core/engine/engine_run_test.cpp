#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"

#include <gmock/gmock.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace ulpscope::engine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunOutcome runOf(const session::RunRequest& request) {
  Engine engine;
  auto outcome = engine.run(request, {}, {});
  EXPECT_TRUE(outcome.ok()) << outcome.error().message();
  return outcome.ok() ? std::move(outcome).value() : RunOutcome{};
}

std::vector<std::string> sortedValues(const session::NonfiniteCounts& counts) {
  std::vector<std::string> values;
  if (counts.plusInf) values.push_back("+inf");
  if (counts.minusInf) values.push_back("-inf");
  if (counts.nan) values.push_back("NaN");
  return values;
}

// Field reports as small models; expected.json comes from a numpy oracle that shares no code with the engine.
class FieldReport : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Overflows, FieldReport, testing::Values("attention_qk_overflow", "vae_conv_overflow", "ffn_wo_overflow"),
                         [](const auto& model) { return model.param; });

TEST_P(FieldReport, TheFirstNonFiniteIsTheOpModuleAndSamplesOfTheOracle) {
  const auto expected = tests::expectedOf(GetParam()).at("first_nonfinite");
  session::RunRequest request = tests::requestFor(GetParam());
  request.settings.verifyProbe = true;
  const RunOutcome outcome = runOf(request);
  EXPECT_EQ(outcome.run.probeCheck, "identical");
  ASSERT_FALSE(outcome.run.nonfiniteOrigins.empty());
  const auto& first = outcome.run.nonfiniteOrigins.front();
  EXPECT_EQ(first.op, expected.at("op"));
  EXPECT_EQ(first.modulePath, expected.at("module"));
  std::vector<std::string> ids;
  for (const auto& id : expected.at("sample_ids")) ids.push_back(id.is_string() ? id.get<std::string>() : std::to_string(id.get<int>()));
  EXPECT_EQ(first.sampleIds, ids);
  std::vector<std::string> values;
  for (const auto& v : expected.at("values")) values.push_back(v);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(sortedValues(first.counts), values);
  EXPECT_EQ(first.cause, "overflow");
  EXPECT_GE(first.reference.maxAbs, 65520);
  EXPECT_THAT(first.diagnosis, HasSubstr(first.modulePath + " overflows"));
  const auto& site = outcome.run.sites.at(static_cast<std::size_t>(first.site));
  EXPECT_GE(site.values[session::Metric::referenceMaxAbs], first.reference.maxAbs);
  EXPECT_LT(site.values[session::Metric::headroomBits], 0);
}

TEST_P(FieldReport, KeepingTheNamedModulesInFp32Cures) {
  const auto expected = tests::expectedOf(GetParam());
  for (const auto& fix : expected.at("cures")) {
    session::RunRequest request = tests::requestFor(GetParam());
    request.settings.fp32 = fix.get<std::vector<std::string>>();
    Engine engine;
    const auto outcome = engine.run(request, {}, {});
    if (!outcome.ok()) {  // a cure that leaves nothing to autocast
      EXPECT_EQ(outcome.error().kind, base::ErrorKind::inconclusive) << fix.dump();
      continue;
    }
    EXPECT_THAT(outcome->run.nonfiniteOrigins, IsEmpty()) << fix.dump();
    EXPECT_EQ(outcome->run.consequenceSites, 0) << fix.dump();
  }
}

TEST_P(FieldReport, KeepingOtherModulesInFp32DoesNot) {
  const auto expected = tests::expectedOf(GetParam());
  for (const auto& other : expected.at("no_cures")) {
    session::RunRequest request = tests::requestFor(GetParam());
    request.settings.fp32 = other.get<std::vector<std::string>>();
    EXPECT_THAT(runOf(request).run.nonfiniteOrigins, testing::Not(IsEmpty())) << other.dump();
  }
}

TEST_P(FieldReport, Bfloat16IsCleanOfOverflow) {
  session::RunRequest request = tests::requestFor(GetParam());
  request.settings.autocast = base::DType::bfloat16;
  EXPECT_THAT(runOf(request).run.nonfiniteOrigins, IsEmpty());
}

TEST(NegativeControl, AFloat32PowRaisesNoAlarm) {
  const RunOutcome outcome = runOf(tests::requestFor("layernorm_pow_control"));
  EXPECT_THAT(outcome.run.nonfiniteOrigins, IsEmpty());
  EXPECT_THAT(outcome.run.referenceNonfinite, IsEmpty());
  EXPECT_EQ(outcome.run.consequenceSites, 0);
}

TEST(Resnet18, RunsHalfEverywhereCudaDoes) {
  const RunOutcome outcome = runOf(tests::requestFor("resnet18_script"));
  std::int64_t batchNorms = 0;
  for (const auto& site : outcome.run.sites) {
    if (!site.viewOf.empty()) continue;
    EXPECT_EQ(site.candidateDtype, base::DType::float16) << session::siteLabel(site);
    batchNorms += site.op == "aten::batch_norm";
  }
  EXPECT_EQ(batchNorms, 20);
  EXPECT_GT(outcome.run.outputs.at(0).relL2.value(), 0);
  EXPECT_LT(outcome.run.outputs.at(0).relL2.value(), 0.05);
}

TEST(SampleAxes, AreFoundInEverySiteOfABatchFirstTransformer) {
  const RunOutcome outcome = runOf(tests::requestFor("encoder_trace"));
  for (const auto& site : outcome.run.sites) {
    if (site.viewOf.empty() && !site.shape.empty()) {  // traced shape arithmetic is 0-dim
      EXPECT_NE(site.sampleAxis, "whole_batch") << session::siteLabel(site);
    }
  }
}

TEST(Batches, GiveTheSameFindingWhateverTheirSize) {
  for (const int size : {1, 2, 3, 32}) {
    session::RunRequest request = tests::requestFor("ffn_wo_overflow");
    const RunOutcome whole = runOf(request);
    request.settings.batchSize = size;
    const RunOutcome cut = runOf(request);
    ASSERT_EQ(cut.run.nonfiniteOrigins.size(), whole.run.nonfiniteOrigins.size()) << size;
    EXPECT_EQ(cut.run.nonfiniteOrigins.front().sampleIds, whole.run.nonfiniteOrigins.front().sampleIds) << size;
    EXPECT_EQ(cut.run.samplesComplete, whole.run.samplesComplete);
  }
}

TEST(RootRegion, LeavesNothingToCompareAndSaysSo) {
  session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  request.settings.fp32 = {"."};
  Engine engine;
  const auto outcome = engine.run(request, {}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::inconclusive);
  EXPECT_THAT(outcome.error().message(), HasSubstr("nothing was autocast"));
}

TEST(Disable, LeavesInputsAsTheyAreAndShowsTheErrorThatPyTorchRaises) {
  const auto fix = tests::expectedOf("ffn_wo_overflow").at("cures").at(0).get<std::vector<std::string>>();
  session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  request.settings.disable = fix;
  const RunOutcome outcome = runOf(request);
  ASSERT_TRUE(outcome.run.candidateError.has_value());
  EXPECT_EQ(outcome.run.candidateError->modulePath, fix.front());
  EXPECT_THAT(outcome.run.candidateError->message, HasSubstr("expected scalar type"));
}

TEST(Cancel, EndsARunBeforeItsFirstOp) {
  std::stop_source stop;
  stop.request_stop();
  Engine engine;
  const auto outcome = engine.run(tests::requestFor("ffn_wo_overflow"), {}, stop.get_token());
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::cancelled);
}

TEST(Loop, OutputsAndControlFlowAreFollowed) {
  const RunOutcome outcome = runOf(tests::requestFor("loop"));
  EXPECT_THAT(outcome.run.sites, Contains(testing::Field(&session::SiteSummary::occurrence, 2)));
  EXPECT_FALSE(outcome.run.outputs.empty());
  // state[:, 0] = 1.0 makes a tensor of the state's dtype: other ops inside, no other control flow.
  EXPECT_THAT(outcome.run.controlFlow, IsEmpty());
}

// A holder as the snippet writes it: the fixture's inputs and an eager output.
session::RunRequest withEagerOutput(const at::Tensor& expected, const std::string& path) {
  const torch::jit::Module inputs = torch::jit::load(tests::requestFor("ffn_wo_overflow").inputsPath);
  torch::jit::Module holder("Holder");
  for (const auto& buffer : inputs.named_buffers()) holder.register_buffer(buffer.name, buffer.value);
  holder.register_buffer("expected_0", expected);
  holder.register_attribute("expected_names", c10::ListType::ofStrings(), c10::List<std::string>({"output"}));
  holder.define("def forward(self):\n  return 0\n");
  holder.save(path);
  session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  request.inputsPath = path;
  return request;
}

at::Tensor eagerOutput() {
  const torch::jit::Module inputs = torch::jit::load(tests::requestFor("ffn_wo_overflow").inputsPath);
  torch::jit::Module model = torch::jit::load(tests::modelPath("ffn_wo_overflow"));
  model.eval();
  const at::NoGradGuard noGrad;
  std::vector<c10::IValue> arguments;
  for (const auto& buffer : inputs.named_buffers()) arguments.emplace_back(buffer.value);
  return model.forward(arguments).toTensor();
}

// One linear in 2-D with weights on the half grid and inputs on it too: what it adds is the rounding of its result.
TEST(IntroducedError, IsTheOpsOwnRoundingNotWhatItInherits) {
  const RunOutcome outcome = runOf(tests::requestFor("encoder_trace"));
  double introduced = 0;
  std::int64_t stated = 0;
  for (const auto& site : outcome.run.sites) {
    if (!site.values.has(session::Metric::introducedRelL2)) continue;
    ++stated;
    introduced = std::max(introduced, site.values[session::Metric::introducedRelL2]);
    // One op in half: each element is off by at most 2^-11 of itself per rounded operand and result, sums average it.
    EXPECT_LT(site.values[session::Metric::introducedRelL2], 4 * 0x1p-11) << session::siteLabel(site);
    if (site.op == "aten::relu") {
      EXPECT_EQ(site.values[session::Metric::introducedRelL2], 0) << "a selection adds nothing";
    }
  }
  EXPECT_GT(stated, 10);
  EXPECT_GT(introduced, 0x1p-14);
}

TEST(IntroducedError, IsFiniteWhereTheCandidateIsNaN) {
  // Consequences of an overflow: NaN in the candidate, the reference's norm is as it was.
  const RunOutcome outcome = runOf(tests::requestFor("ffn_wo_overflow"));
  std::int64_t consequences = 0;
  for (const auto& site : outcome.run.sites) {
    if (site.role != session::NonfiniteRole::consequence || !site.values.has(session::Metric::introducedRelL2)) continue;
    ++consequences;
    EXPECT_LT(site.values[session::Metric::introducedRelL2], 0.01) << session::siteLabel(site);
  }
  EXPECT_GT(consequences, 0);
}

TEST(IntroducedError, CanBeSwitchedOff) {
  session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  request.settings.observe = session::Observe::stats;
  for (const auto& site : runOf(request).run.sites) EXPECT_FALSE(site.values.has(session::Metric::introducedRelL2));
}

TEST(EagerOutputs, ThatAgreeSayThatThisIsTheModel) {
  const std::string path = testing::TempDir() + "ulpscope_eager_ok.pt";
  EXPECT_THAT(runOf(withEagerOutput(eagerOutput(), path)).run.eagerCheck, HasSubstr("this is your model"));
  std::filesystem::remove(path);
}

TEST(EagerOutputs, AreCheckedForChosenSamplesToo) {
  const std::string path = testing::TempDir() + "ulpscope_eager_chosen.pt";
  at::Tensor other = eagerOutput();
  other[0].mul_(1.01);
  session::RunRequest request = withEagerOutput(other, path);
  request.settings.onlySamples = {"1", "2"};
  EXPECT_THAT(runOf(request).run.eagerCheck, HasSubstr("this is your model")) << "sample 0, which differs, did not run";
  request.settings.onlySamples = {"0", "2"};
  Engine engine;
  const auto outcome = engine.run(request, {}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message(), HasSubstr("this is not the model that was exported"));
}

TEST(EagerOutputs, ThatDifferRefuseTheRun) {
  const std::string path = testing::TempDir() + "ulpscope_eager_other.pt";
  Engine engine;
  const auto outcome = engine.run(withEagerOutput(eagerOutput() * 1.01, path), {}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::run);
  EXPECT_THAT(outcome.error().message(), HasSubstr("not the model that was exported"));
  std::filesystem::remove(path);
}

TEST(Inspect, NamesTheClassOfEachOp) {
  Engine engine;
  const auto inspection = engine.inspect(tests::modelPath("ffn_wo_overflow"), "cuda");
  ASSERT_TRUE(inspection.ok()) << inspection.error().message();
  EXPECT_EQ(inspection->policyTable, "cuda@2.12");
  std::set<std::string> linears, others;
  for (const auto& op : inspection->ops) (op.op == "aten::linear" ? linears : others).insert(op.policyClass);
  EXPECT_THAT(linears, ElementsAre("lower_precision_fp"));
  EXPECT_THAT(others, Contains("none"));
}

}  // namespace
}  // namespace ulpscope::engine
