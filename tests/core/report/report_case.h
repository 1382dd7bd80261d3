// A session on disk whose report a test reads.
#pragma once

#include "core/report/report_content.h"
#include "core/report/report_document.h"
#include "sample_run.h"
#include "tests/support/scratch_folder.h"

#include <gtest/gtest.h>

#include <string>

namespace ulpscope::test {

struct ReportCase {
  explicit ReportCase(const session::Session& made = sampleSession()) : session(storage::newSession(made.title)) {
    const std::string id = session.id;
    session::Session whole = made;
    const std::vector<session::RunRecord> runs = std::move(whole.runs);
    whole.runs.clear();
    whole.id = id;
    base::Result<session::Session> written = whole;
    for (std::size_t i = 0; i < runs.size() && written.ok(); ++i) {
      storage::RunMetrics metrics;
      const auto sites = static_cast<std::int64_t>(runs[i].sites.size()), samples = static_cast<std::int64_t>(made.samples.ids.size());
      std::vector<float> cells(static_cast<std::size_t>(sites * samples));
      for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = 1e-5F * static_cast<float>(k % 97 + 1);
      metrics[session::Metric::maxAbs] = {sites, samples, cells};
      metrics[session::Metric::relL2] = metrics[session::Metric::maxAbs];
      metrics.flags.assign(cells.size(), 0);
      written = storage::addRun(path(), written.value(), runs[i], metrics, {}, i == 0 ? storage::WriteMode::create : storage::WriteMode::append);
    }
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message());
    auto opened = storage::openSession(path());
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message());
    session = std::move(opened).value();
  }

  std::string path() const { return folder.file("net-fp16.ulps"); }
  report::ReportContent content(bool isCovered = false) const {
    auto made = report::reportContent({path(), session, session.runs.empty() ? std::string() : session.runs.back().id(), isCovered});
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message());
    return std::move(made).value();
  }

  tests::ScratchFolder folder;
  session::Session session;
};

// With criteria that were locked before the run; `late`: revised when results were known.
session::Session lockedSession(bool late = false);

}  // namespace ulpscope::test
