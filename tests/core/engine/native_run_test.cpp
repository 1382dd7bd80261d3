// Runs under LibTorch's own CPU autocast, and the emulation of the CPU policy held against them on whole models.
#include "core/engine/engine.h"
#include "tests/core/engine/fixture.h"
#include "tests/core/engine/site_numbers.h"

#include <gmock/gmock.h>

namespace ulpscope::engine {
namespace {

using testing::Each;
using testing::HasSubstr;

session::RunRequest requestOf(const std::string& name, session::Mode mode, const std::string& policy) {
  session::RunRequest request = tests::requestFor(name);
  request.settings.autocast = base::DType::bfloat16;
  request.settings.mode = mode;
  request.settings.policyTable = policy;
  request.settings.verifyProbe = true;
  request.settings.noiseFloor = false;
  return request;
}

base::Error errorOf(const session::RunRequest& request) {
  Engine engine;
  const auto outcome = engine.run(request, {}, {});
  EXPECT_FALSE(outcome.ok());
  return outcome.ok() ? base::Error{} : outcome.error();
}

class NativeRun : public testing::TestWithParam<const char*> {};

TEST_P(NativeRun, HasTheDtypesOfTheEmulationUnderTheSameListsAndCloseNumbers) {
  const RunOutcome native = tests::runOf(requestOf(GetParam(), session::Mode::native, "cpu"));
  const RunOutcome emulated = tests::runOf(requestOf(GetParam(), session::Mode::emulated, "cpu@1.13"));
  EXPECT_EQ(native.run.policyTable, "cpu@1.13");
  EXPECT_THAT(native.run.probeCheck, testing::AnyOf("identical", "")) << "not checked where there is nothing to compare";
  const bool addsUpInFloat = std::none_of(native.run.warnings.begin(), native.run.warnings.end(), [](const std::string& w) { return w.find("AVX-512") != std::string::npos; });
  ASSERT_EQ(native.run.sites.size(), emulated.run.sites.size());
  for (std::size_t i = 0; i < native.run.sites.size(); ++i) {
    const session::SiteSummary &a = native.run.sites[i], &b = emulated.run.sites[i];
    SCOPED_TRACE(session::siteLabel(a));
    EXPECT_EQ(a.op, b.op);
    EXPECT_EQ(a.policyClass, b.policyClass);
    EXPECT_EQ(a.candidateDtype, b.candidateDtype);
    // Where the processor has no AVX-512, LibTorch adds products up in bfloat16, which the emulation does not; a warning says so.
    const double mine = a.values[session::Metric::relL2], theirs = b.values[session::Metric::relL2];
    if (a.viewOf.empty() && mine > 0) {
      EXPECT_LT(theirs, 2 * mine + 0x1p-7);
      EXPECT_LT(mine, (addsUpInFloat ? 2 : 40) * theirs + 0x1p-7);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, NativeRun, testing::Values("resnet18_script", "mobilenet_v3_small_script", "modulelist_shared", "loop", "kinds/Slopes"),
                         [](const auto& model) { return std::string(model.param).substr(std::string(model.param).rfind('/') + 1); });

TEST(NativeRun, StatesWhatEachOpAddsByItself) {
  const RunOutcome native = tests::runOf(requestOf("resnet18_script", session::Mode::native, "cpu"));
  int told = 0;
  for (const session::SiteSummary& site : native.run.sites) told += site.values[session::Metric::introducedRelL2] > 0;
  EXPECT_GT(told, 20);
}

// LibTorch 1.13's layer_norm takes no bfloat16 input with float32 weights: a failure of the real thing is shown as it is.
TEST(NativeRun, ShowsWhatFailsUnderCpuAutocastAsTheCandidatesError) {
  for (const session::Mode mode : {session::Mode::native, session::Mode::emulated}) {
    const RunOutcome outcome = tests::runOf(requestOf("kinds/LinearNorm", mode, mode == session::Mode::native ? "cpu" : "cpu@1.13"));
    ASSERT_TRUE(outcome.run.candidateError.has_value());
    EXPECT_THAT(outcome.run.candidateError->message, HasSubstr("expected scalar type"));
  }
}

TEST(NativeRun, ObeysAModelsOwnRegionForTheCpuAndNoOther) {
  const auto dtypeAt = [](const std::string& name, const std::string& module) {
    const RunOutcome outcome = tests::runOf(requestOf("odd/" + name, session::Mode::native, "cpu"));
    return outcome.run.sites.at(static_cast<std::size_t>(tests::siteAt(outcome, module, "aten::linear"))).candidateDtype;
  };
  EXPECT_EQ(dtypeAt("OwnCpuOff", "a"), base::DType::float32);
  EXPECT_EQ(dtypeAt("OwnCpuOff", "b"), base::DType::bfloat16);
  EXPECT_EQ(dtypeAt("OwnCudaOff", "a"), base::DType::bfloat16);
}

TEST(NativeRun, RefusesWhatThisLibTorchHasNot) {
  session::RunRequest half = requestOf("loop", session::Mode::native, "cpu");
  half.settings.autocast = base::DType::float16;
  EXPECT_EQ(errorOf(half).kind, base::ErrorKind::usage);
  EXPECT_THAT(errorOf(half).message(), HasSubstr("has no FP16 autocast on the CPU; use --autocast bf16"));
  EXPECT_THAT(errorOf(requestOf("loop", session::Mode::native, "cuda")).message(), HasSubstr("--policy cuda: does not go with --mode native"));
}

}  // namespace
}  // namespace ulpscope::engine
