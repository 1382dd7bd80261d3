#include "core/session/lineage.h"

#include <gtest/gtest.h>

using namespace ulpscope;
using namespace ulpscope::session;

namespace {

TEST(Session, FindsRunsByIdAndTheLatest) {
  Session session;
  EXPECT_EQ(session.latest(), nullptr);
  session.runs.resize(2);
  session.runs[0].number = 1;
  session.runs[1].number = 30;
  EXPECT_EQ(session.run("run_0030"), &session.runs[1]);
  EXPECT_EQ(session.run("run_0002"), nullptr);
  EXPECT_EQ(session.latest(), &session.runs[1]);
}

TEST(Session, NamesClassesOrTheirIndex) {
  Session session;
  session.samples.classNames = {"cat"};
  EXPECT_EQ(session.className(0), "cat");
  EXPECT_EQ(session.className(1), "1");
  EXPECT_EQ(session.className(-1), "-1");
}

TEST(Session, LabelsARunByItsPrecisionPolicy) {
  RunRecord run;
  EXPECT_EQ(runLabel(run), "FP16");
  run.settings.autocast = base::DType::bfloat16;
  run.settings.fp32 = {"a", "b.c"};
  run.settings.disable = {"d"};
  EXPECT_EQ(runLabel(run), "BF16, FP32: a, b.c, autocast off: d");
}

TEST(Session, TellsAValidationWhatWasExploredBefore) {
  Session session;
  session.id = "abc";
  session.title = "digits";
  session.samples.sha256 = "feed";
  session.runs.resize(2);
  session.runs[1].settings.onlySamples = {"7"};  // a drill is no candidate
  const Lineage lineage = lineageOf(session);
  EXPECT_EQ(lineage.sessionId, "abc");
  EXPECT_EQ(lineage.title, "digits");
  EXPECT_EQ(lineage.runs, 1);
  EXPECT_EQ(lineage.samplesSha256, "feed");
  EXPECT_FALSE(lineage.sameSamples);
}

TEST(SampleAxis, TextsComeBack) {
  for (const char* text : {"whole_batch", "0", "1", "2:batch*n", "0:n*batch"}) EXPECT_EQ(SampleAxis::fromText(text).text(), text);
}

// torch.testing.assert_close, "dtype / rtol / atol" table of its documentation.
TEST(SiteTolerance, IsTorchTestings) {
  EXPECT_EQ(siteTolerance(base::DType::float16).rtol, 1e-3);
  EXPECT_EQ(siteTolerance(base::DType::float16).atol, 1e-5);
  EXPECT_EQ(siteTolerance(base::DType::bfloat16).rtol, 1.6e-2);
  EXPECT_EQ(siteTolerance(base::DType::bfloat16).atol, 1e-5);
}

}  // namespace
