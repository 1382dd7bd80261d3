#include "core/report/audit_text.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace ulpscope;
using session::LedgerState;
using testing::HasSubstr;
using testing::Not;

namespace {

session::RecordedTraining record(int first, double scale) {
  session::RecordedTraining training;
  training.settings["torch"] = scale == 4096 ? "2.6" : "2.5";
  for (int step = first; step < 50; ++step) {
    training.lines.push_back({step, "adam", {{LedgerState::scaleBefore, scale}, {LedgerState::scaledNorm, scale * 2}, {LedgerState::loss, 0.25}}});
    if (scale != 4096) training.lines.back().values[LedgerState::rng] = "9f86";
  }
  return training;
}

TEST(AuditText, SaysWhatDiffersFirstAndWhatItMeans) {
  auto resumed = record(40, 65536);
  resumed.resumedAt = 40;
  const auto audit = analysis::auditLedgers({record(0, 4096), resumed});
  ASSERT_TRUE(audit.ok());
  const std::string text = report::auditText(audit.value());
  EXPECT_THAT(text, HasSubstr("10 steps, 40 to 49; resumed after 40 steps\n"));
  EXPECT_THAT(text, HasSubstr("step 40: scale_before: 65536 instead of 4096: the checkpoint was saved without GradScaler.state_dict()"));
  EXPECT_THAT(text, HasSubstr("Also there     scaled_norm\n"));
  EXPECT_THAT(text, HasSubstr("scale_before by 61440 (step 40), scaled_norm by 122880 (step 40)\n"));
  EXPECT_THAT(text, HasSubstr("torch: 2.5 instead of 2.6\n"));
  EXPECT_THAT(text, HasSubstr("Equal          loss\n"));
  EXPECT_THAT(text, HasSubstr("rows, rng (uninterrupted), weights"));
  EXPECT_THAT(text, Not(HasSubstr("Note")));
  const auto document = report::auditDocument(audit.value());
  EXPECT_EQ(document["first"]["state"], "scale_before");
  EXPECT_EQ(document["first"]["further"], nlohmann::json{"scaled_norm"});
  EXPECT_EQ(document["compared"]["steps"], 10);
  EXPECT_EQ(document["states"][0]["standing"], "not recorded");
}

TEST(AuditText, SaysThatNothingDiffersOnlyOfWhatWasRecorded) {
  const auto audit = analysis::auditLedgers({record(0, 4096), record(0, 4096)});
  ASSERT_TRUE(audit.ok());
  const std::string text = report::auditText(audit.value());
  EXPECT_THAT(text, HasSubstr("no recorded state differs in any bit\n"));
  EXPECT_THAT(text, HasSubstr("Equal          scale_before, loss, scaled_norm\n"));
  EXPECT_THAT(text, HasSubstr("Not recorded   rows, rng, weights, buffers, optimizer_state, lr, grad_norm"));
  EXPECT_TRUE(report::auditDocument(audit.value())["first"].is_null());
}

}  // namespace
