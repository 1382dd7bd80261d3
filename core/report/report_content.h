// Everything that a report says of a session, gathered once: the writers of formats read this and nothing else.
#pragma once

#include "core/render/thumbnail.h"
#include "core/report/flip_statement.h"
#include "core/session/criteria.h"
#include "core/session/scan.h"
#include "core/session/session.h"
#include "core/session/training.h"
#include "core/storage/session_store.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::report {

struct ReportSource {
  std::string path;                 // of the session
  const session::Session& session;  // as it was opened there
  std::string runId;                // "run_0002"; empty: no run, only what is locked and what was trained
  bool isCovered = false;           // results are not to be seen yet, though there are some
};

// Why something is not in the report.
enum class Absence { none, recorded, missing, otherFile, unreadable, covered };

struct SamplePicture {
  std::string sampleId;
  render::Thumbnail light, dark;
};

struct ReportContent {
  std::string madeUtc, version;     // when this was gathered, by which Ulpscope
  std::string file;                 // the session's, without its folder
  session::Session session;         // without paths (shareable.h)
  std::string runId;                // empty: none
  bool isCovered = false;           // no number that a run gave is in here
  std::optional<session::Verdict> verdict;   // of the run, by the criteria that are locked now
  std::optional<session::Criteria> criteria;  // those
  bool criteriaAreCut = false;      // a path was taken out of their text: it does not give the SHA-256 any more
  std::shared_ptr<const storage::RunMetrics> metrics;  // null: noMetrics
  Absence noMetrics = Absence::none;
  std::vector<SamplePicture> pictures;  // of flipped samples, as many as are shown
  Absence noPictures = Absence::none;
  std::vector<session::Training> trainings;
  std::vector<session::CriteriaRevision> trainingCriteria;
  std::vector<session::Scan> scans;

  const session::RunRecord* run() const { return session.run(runId); }  // nullptr: none
};

inline constexpr std::size_t kMostPictures = 24;

// Errors (kind input): criteria whose text was changed after the lock, a training's file that is not the one that was written. What cannot be
// read beside the master (metrics, inputs) is absent, with its reason.
base::Result<ReportContent> reportContent(const ReportSource& source);

}  // namespace ulpscope::report
