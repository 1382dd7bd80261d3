#include "core/report/scan_text.h"

#include "schema_validator.h"
#include "tests/core/session/sample_scan.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ulpscope::report {
namespace {

using session::Scan;
using session::ScanKind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ScanText, SaysWhereBothRunsCrossAndHowWideTheStripIs) {
  const std::string text = scanSummary(tests::sampleScan(), {});
  EXPECT_THAT(text, HasSubstr("FP32         crosses at t = 0.5 (4 -> 9)\n"));
  EXPECT_THAT(text, HasSubstr("AMP FP16     crosses at t = 0.500999987 (4 -> 9); 0.501999974 (9 -> tie: 9); NO DECISION (NaN) at t = 0.300000012 to 0.400000006\n"));
  EXPECT_THAT(text, HasSubstr("Disagreement 0.251 of the segment, in 2 strips, 1 of them within FP32's own noise: t = 0.75 to 1 (width 0.25, "));
  EXPECT_THAT(text, HasSubstr("\n             t = 0.5 to 0.500999987 (width 1.00e-03, L2 0.0025 of the input): FP32 says 9, AMP FP16 4 (within FP32's own noise)\n")) << "after those that are not";
  EXPECT_THAT(text, HasSubstr("Flicker      t = 0.500999987 to 0.501999974 (width 1.00e-03): AMP FP16 changes 7 times, FP32 1 (257 points where the error reaches the margin, at most 7.81e-05 apart)\n"));
  EXPECT_THAT(text, HasSubstr("Noise floor  FP32 in another order and with 2 threads moves scores by 1.00e-07 at most, and its crossings by 0\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("without autocast in encoder"), HasSubstr("kept as they are: ids"), HasSubstr("Warning      careful\n")));
}

TEST(ScanText, SaysThatNothingCrosses) {
  Scan scan = tests::sampleScan();
  scan.segment = session::SegmentScan{};
  scan.settings.autocast = base::DType::bfloat16;
  scan.noise.skipped = "not asked for";
  const std::string text = scanSummary(scan, {});
  EXPECT_THAT(text, AllOf(HasSubstr("FP32         never crosses\n"), HasSubstr("AMP BF16     never crosses\n"), HasSubstr("Disagreement none\n"),
                          HasSubstr("Flicker      none (nowhere does the error reach the margin)\n"), HasSubstr("Noise floor  none: not asked for\n")));
}

TEST(ScanText, ListsTheNearestFlips) {
  session::SampleSet samples;
  samples.classNames.assign(10, "x");
  samples.classNames[4] = "four";
  const std::string text = scanSummary(tests::sampleScan(ScanKind::near), samples);
  EXPECT_THAT(text, HasSubstr("Within error 1 of 3 samples (margin <= 2 max|error|): b (flips)\nNO DECISION  1 sample of them with NaN in one of the runs\n"));
  EXPECT_THAT(text, HasSubstr("a                four           1 (0.25)                 beyond 4"));
  EXPECT_THAT(text, HasSubstr("Not followed 1 sample: b: the margin's gradient is zero there\n"));
}

TEST(ScanText, SaysHowMuchOfAPlaneFlips) {
  const std::string text = scanSummary(tests::sampleScan(ScanKind::plane), {});
  EXPECT_THAT(text, AllOf(HasSubstr("Flips        1 of 3 points (0.333 of them)\n"), HasSubstr("90.0 degrees between"), HasSubstr("NO DECISION  1 point with NaN in one of the runs\n")));
}

TEST(ScanText, ListsTheScansOfASession) {
  session::Session session;
  EXPECT_EQ(scanListText(session), "no scans yet\n");
  session.scans = {{12, "2024-05-01T10:00:00Z", "segment a to b", ""}};
  EXPECT_EQ(scanListText(session), "  12  2024-05-01T10:00:00Z  segment a to b\n");
}

TEST(ScanSchema, HoldsForEveryKindAndForErrors) {
  std::ifstream file(ULPSCOPE_SCAN_SCHEMA);
  const auto schema = nlohmann::json::parse(file);
  for (const ScanKind kind : {ScanKind::segment, ScanKind::near, ScanKind::plane})
    EXPECT_THAT(test::schemaFaults(schema, session::scanDocument(tests::sampleScan(kind), "s.ulps")), testing::IsEmpty()) << session::name(kind);
  Scan scan = tests::sampleScan();
  scan.settings.decision = session::parseDecisionRule("topk:1").value();
  EXPECT_THAT(test::schemaFaults(schema, session::scanDocument(scan, "s.ulps")), testing::IsEmpty());
  EXPECT_THAT(test::schemaFaults(schema, session::scanErrorDocument({base::ErrorKind::usage, "a", "b", "c"})), testing::IsEmpty());
  auto wrong = session::scanDocument(scan, "s.ulps");
  wrong["samples"][0]["t"] = 1.5;
  EXPECT_THAT(test::schemaFaults(schema, wrong), Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace ulpscope::report
