#include "core/session/comparable.h"

#include "core/session/allowed_nonfinite.h"

#include <gmock/gmock.h>

#include <functional>

namespace ulpscope::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Experiment {
  Session session;
  RunSettings settings;
};

Experiment experiment() {
  Experiment e;
  e.session.model.fingerprint = {"code-a", "weights-a"};
  e.session.samples.sha256 = "inputs-a";
  e.session.samples.preprocessing = "resize-256";
  e.session.samples.ids = {"0", "1"};
  return e;
}

struct Part {
  const char* name;
  std::function<void(Experiment&)> change;
  const char* said;
};
class ExperimentPart : public testing::TestWithParam<Part> {};

TEST_P(ExperimentPart, IsRefusedByNameWithBothValues) {
  const Experiment a = experiment();
  Experiment b = experiment();
  GetParam().change(b);
  const auto found = differences(a.session, a.settings, b.session, b.settings);
  ASSERT_EQ(found.size(), 1U);
  const auto refused = checkComparable(found, "b.ulps");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::run);
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("b.ulps"), HasSubstr(GetParam().said)));
}

INSTANTIATE_TEST_SUITE_P(
    Parts, ExperimentPart,
    testing::Values(Part{"Code", [](Experiment& e) { e.session.model.fingerprint.codeSha256 = "code-b"; }, "the model's code differs: code-a before, code-b now"},
                    Part{"Weights", [](Experiment& e) { e.session.model.fingerprint.weightsSha256 = "weights-b"; }, "the model's weights differ: weights-a before, weights-b now"},
                    Part{"Inputs", [](Experiment& e) { e.session.samples.sha256 = "inputs-b"; }, "the inputs file differs: inputs-a before, inputs-b now"},
                    Part{"Samples", [](Experiment& e) { e.session.samples.ids = {"0"}; }, "the samples differ: 2 from '0' before, 1 from '0' now"},
                    Part{"Preprocessing", [](Experiment& e) { e.session.samples.preprocessing = ""; }, "the preprocessing differs: resize-256 before, none now"},
                    Part{"Mode", [](Experiment& e) { e.settings.trainMode = true; }, "train/eval mode differs: eval before, train now"},
                    Part{"BatchSize", [](Experiment& e) { e.settings.batchSize = 8; }, "the batch size differs: 32 before, 8 now"},
                    Part{"Seed", [](Experiment& e) { e.settings.seed = 7; }, "the seed differs: 0 before, 7 now"},
                    Part{"BatchAxes", [](Experiment& e) { e.settings.batchAxis["x"] = 1; }, "the batch axes of the inputs differ"},
                    Part{"Device", [](Experiment& e) { e.settings.device = "cuda"; }, "the device differs: cpu before, cuda now"}),
    [](const auto& part) { return part.param.name; });

TEST(Comparable, ThePrecisionPolicyMayDiffer) {
  const Experiment a = experiment();
  Experiment b = experiment();
  b.settings.autocast = base::DType::bfloat16;
  b.settings.fp32 = {"head"};
  b.settings.policyTable = "cuda@1.13";
  b.settings.mode = Mode::native;
  b.settings.castCache = false;
  b.settings.accumulate = Accumulate::pessimistic;
  EXPECT_TRUE(differences(a.session, a.settings, b.session, b.settings).empty());
}

TEST(Comparable, NamesEveryPartThatDiffers) {
  const Experiment a = experiment();
  Experiment b = experiment();
  b.settings.seed = 1;
  b.settings.trainMode = true;
  EXPECT_THAT(checkComparable(differences(a.settings, b.settings), "b").error().what, HasSubstr("so do the seed"));
}

NonfiniteFinding at(const std::string& stage, const std::string& module, const std::string& op) {
  NonfiniteFinding finding;
  finding.stage = stage;
  finding.modulePath = module;
  finding.op = op;
  finding.source = "model.py:12";
  finding.occurrence = 2;
  return finding;
}

TEST(AllowedNonfinite, CoversModulesOpSitesInputsAndParameters) {
  const NonfiniteFinding op = at("intermediate", "encoder.0.attn", "aten::masked_fill");
  for (const char* rule : {".", "encoder", "encoder.0", "encoder.0.attn", "encoder.*.attn", "encoder.0.attn:aten::masked_fill", "encoder.*:aten::masked_fill#2", "encoder.0.attn: aten::masked_fill#2", "encoder.0.attn:aten::masked_fill@12"})
    EXPECT_TRUE(explains(rule, op)) << rule;
  for (const char* rule : {"decoder", "encoder.0.att", "encoder.0.attn:aten::where", "encoder.0.attn:aten::masked_fill#1", "encoder.0.attn:aten::masked_fill@13", "input:x", "encoder.0:aten::masked_fill"})
    EXPECT_FALSE(explains(rule, op)) << rule;
  EXPECT_TRUE(explains("input:x", at("input", "", "x")));
  EXPECT_FALSE(explains("input:y", at("input", "", "x")));
  EXPECT_FALSE(explains(".", at("input", "", "x")));
  EXPECT_TRUE(explains("parameter:head.*", at("parameter", "", "head.weight")));
}

}  // namespace
}  // namespace ulpscope::session
