// The fake engine answers with a session that is really there.
#pragma once

#include "core/storage/session_store.h"
#include "program.h"
#include "tests/core/report/sample_run.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ulpscope::test {

inline std::vector<std::string> runWords(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"run", "m.ts", "--inputs", "i.h5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline constexpr const char* kStages = "ulpscope: loading\nulpscope: running\n";

// A real session on disk, as an engine would leave it.
struct Answered {
  explicit Answered(const session::Session& made = sampleSession()) {
    session::Session session = storage::newSession("m");
    session.model = made.model;
    session.samples = made.samples;
    const session::RunRecord run = made.runs.front();
    storage::RunMetrics metrics;
    const auto sites = static_cast<std::int64_t>(run.sites.size()), samples = static_cast<std::int64_t>(made.samples.ids.size());
    metrics[session::Metric::maxAbs] = {sites, samples, std::vector<float>(static_cast<std::size_t>(sites * samples))};
    metrics[session::Metric::relL2] = metrics[session::Metric::maxAbs];
    metrics.flags.assign(metrics[session::Metric::maxAbs].values.size(), 0);
    const auto written = storage::addRun(folder.path("made.ulps"), session, run, metrics, {}, storage::WriteMode::create);
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message());
  }
  Finished run(std::vector<std::string> more, const std::string& mode = "ok") const {
    return withFakeEngine(folder, mode, {runWords(std::move(more)), {{"FAKE_SESSION", folder.path("made.ulps")}}, 0, "", ""});
  }
  Folder folder;
};

}  // namespace ulpscope::test
