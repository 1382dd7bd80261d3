#include "core/protocol/inspection.h"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

namespace ulpscope::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Inspection sample() {
  Inspection inspection;
  inspection.model.modules = {{"", "Net", {}, 0}};
  inspection.ops = {{"fc", "aten::linear", "", "net.py:3", "lower_precision_fp", {{"cuda@2.6", "fp32"}}}};
  inspection.policyTable = "cuda@2.12";
  inspection.warnings = {"w"};
  inspection.target = {"cuda", "1.13.1", true, false};
  inspection.kernels = {{"composite", true}};
  return inspection;
}

TEST(Inspection, SurvivesTheWayThroughJson) {
  const auto back = inspectionFromJson(toJson(sample()));
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(toJson(back.value()), toJson(sample()));
  EXPECT_EQ(back->kernels[0].kernel, "composite");
  EXPECT_TRUE(back->kernels[0].hasAutocastKernel);
  EXPECT_TRUE(back->target.hasKernels);
  EXPECT_FALSE(back->target.isPresent);
}

TEST(Inspection, WhatIsMissingIsAnError) {
  nlohmann::json j = toJson(sample());
  for (const char* key : {"model", "ops", "policy_table", "target", "warnings"}) {
    nlohmann::json cut = j;
    cut.erase(key);
    EXPECT_EQ(inspectionFromJson(cut).error().kind, base::ErrorKind::internal) << key;
  }
  j["ops"][0]["kernel"] = 7;
  EXPECT_THAT(inspectionFromJson(j).error().message(), HasSubstr("damaged"));
}

TEST(TargetNotes, PromiseNothingOfADeviceThatIsNotHere) {
  EXPECT_THAT(targetNotes({"cuda", "1.13.1", false, false}), ElementsAre(HasSubstr("has no kernels for cuda"), HasSubstr("ROCm")));
  EXPECT_THAT(targetNotes({"cuda", "2.6.0", true, false}), ElementsAre(HasSubstr("no such device is here"), HasSubstr("ROCm")));
  EXPECT_THAT(targetNotes({"cuda", "2.6.0", true, true}), ElementsAre(HasSubstr("another build may have others"), HasSubstr("ROCm")));
  EXPECT_THAT(targetNotes({"cpu", "1.13.1", true, true}), ElementsAre(HasSubstr("another build may have others")));
}

}  // namespace
}  // namespace ulpscope::protocol
