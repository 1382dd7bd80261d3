#include "core/report/report_content.h"

#include "core/base/clock.h"
#include "core/report/sample_pictures.h"
#include "core/report/shareable.h"
#include "core/storage/run_verdict.h"
#include "core/storage/scan_store.h"
#include "core/storage/training_store.h"

namespace ulpscope::report {
namespace {

using base::Result;
using base::Status;

// A covered report has what was locked, and what it is about: no run, but the first one's model and settings, without results.
void coverResults(ReportContent& content) {
  content.session.trainings.clear();
  content.session.scans.clear();
  content.session.benchmarks.clear();
  for (session::RunRecord& run : content.session.runs) {
    session::RunRecord bare;
    bare.number = run.number;
    bare.createdUtc = run.createdUtc;
    bare.status = run.status;
    bare.settings = run.settings;
    bare.libtorchVersion = run.libtorchVersion;
    bare.policyTable = run.policyTable;
    bare.threadsPerRun = run.threadsPerRun;
    run = bare;
  }
}

Status addVerdict(const ReportSource& source, ReportContent& content) {
  if (source.session.exploratory()) return base::success();
  auto criteria = session::criteriaFromText(source.session.criteria.back().canonical);
  if (!criteria) return criteria.error().within(source.path);
  content.criteria = std::move(criteria).value();
  content.criteriaAreCut = content.session.criteria.back().canonical != source.session.criteria.back().canonical;
  const session::RunRecord* run = source.session.run(source.runId);
  if (!run || content.isCovered) return base::success();
  auto verdict = storage::standingVerdict(source.path, source.session, *run);
  if (!verdict) return verdict.error();
  content.verdict = std::move(verdict).value();
  return base::success();
}

void addMetrics(const ReportSource& source, ReportContent& content) {
  auto metrics = storage::readMetrics(source.path, source.session, source.runId);
  if (metrics) content.metrics = std::make_shared<const storage::RunMetrics>(std::move(metrics).value());
  else content.noMetrics = Absence::unreadable;
}

Status addTrainings(const ReportSource& source, const PathCutter& cutter, ReportContent& content) {
  for (const session::TrainingEntry& entry : source.session.trainings) {
    auto training = storage::readTraining(source.path, source.session, entry.number);
    if (!training) return training.error();
    content.trainings.push_back(shareable(training.value(), cutter));
  }
  content.trainingCriteria = storage::lockedTrainingCriteria(source.path, source.session);
  for (session::CriteriaRevision& revision : content.trainingCriteria) revision.reason = cutter.cut(revision.reason);
  return base::success();
}

Status addScans(const ReportSource& source, const PathCutter& cutter, ReportContent& content) {
  for (const session::ScanEntry& entry : source.session.scans) {
    auto scan = storage::readScan(source.path, source.session, entry.number);
    if (!scan) return scan.error();
    content.scans.push_back(shareable(scan.value(), cutter));
  }
  return base::success();
}

// What a verdict names of samples and reasons is cut as the run is.
void cutVerdict(std::optional<session::Verdict>& verdict, const PathCutter& cutter) {
  if (!verdict) return;
  verdict->reason = cutter.cut(verdict->reason);
  for (session::CriterionResult& criterion : verdict->criteria) {
    criterion.worstSample = cutter.cut(criterion.worstSample);
    criterion.note = cutter.cut(criterion.note);
  }
}

}  // namespace

Result<ReportContent> reportContent(const ReportSource& source) {
  const PathCutter cutter = cutterOf(source.session, source.path);
  ReportContent content;
  content.madeUtc = base::utcNow();
  content.version = ULPSCOPE_VERSION;
  content.file = fileName(source.path);
  content.session = shareable(source.session, cutter);
  content.runId = source.runId;
  content.isCovered = source.isCovered;
  if (auto judged = addVerdict(source, content); !judged) return judged.error();
  cutVerdict(content.verdict, cutter);
  if (content.isCovered) {
    coverResults(content);
    content.noMetrics = content.noPictures = Absence::covered;
    return content;
  }
  if (auto trained = addTrainings(source, cutter, content); !trained) return trained.error();
  if (auto scanned = addScans(source, cutter, content); !scanned) return scanned.error();
  if (!content.run()) return content;
  addMetrics(source, content);
  addPictures(source, cutter, content);
  return content;
}

}  // namespace ulpscope::report
