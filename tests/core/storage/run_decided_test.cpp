#include "core/storage/run_decided.h"

#include "core/storage/session_store.h"
#include "tests/core/storage/sample_session.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

#include <cstring>

namespace ulpscope::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Three samples "a", "b", "c" over two classes, of which run decides `rows`.
class DecidedSamples : public testing::Test {
 protected:
  base::Result<std::vector<std::vector<std::int64_t>>> decided(const std::vector<float>& scores, std::vector<std::int64_t> shape) {
    OutputTensors output{"logits", std::move(shape), {}, {}};
    output.reference.bytes.resize(scores.size() * sizeof(float));
    std::memcpy(output.reference.bytes.data(), scores.data(), output.reference.bytes.size());
    output.candidate = output.reference;
    const auto written = addRun(m_path, tests::sampleSession(), m_run, m_sample.metrics, {output}, WriteMode::create);
    if (!written) return written.error();
    const auto session = openSession(m_path);
    return session ? decidedSamples(m_path, session.value(), session->runs.front()) : session.error();
  }

  tests::ScratchFolder m_folder;
  std::string m_path = m_folder.file("s.ulps");
  tests::SampleRun m_sample = tests::sampleRun();
  session::RunRecord m_run = m_sample.run;
};

TEST_F(DecidedSamples, AreReadOffTheStoredOutput) {
  const auto result = decided({1, 2, 4, 3, 0, 5}, {3, 2});
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_THAT(result.value(), ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(1)));
}

TEST_F(DecidedSamples, OfADrillAreThoseThatRan) {
  m_run.settings.onlySamples = {"c", "a"};
  const auto result = decided({1, 2, 4, 3}, {2, 2});
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_THAT(result.value(), ElementsAre(ElementsAre(1), IsEmpty(), ElementsAre(0)));
}

TEST_F(DecidedSamples, AreUnknownWhereNoAxisCountsThem) {
  m_run.outputs.front().sampleAxis = "whole_batch";
  const auto result = decided({1, 2, 4, 3, 0, 5}, {3, 2});
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_THAT(result.value(), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST_F(DecidedSamples, NameTheRunThatStoredNoSuchOutput) {
  m_run.settings.decisionOutput = "boxes";
  const auto result = decided({1, 2, 4, 3, 0, 5}, {3, 2});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message(), HasSubstr("run_0001: stores no output that decides"));
}

}  // namespace
}  // namespace ulpscope::storage
