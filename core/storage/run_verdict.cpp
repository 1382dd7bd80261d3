#include "core/storage/run_verdict.h"

#include "core/base/clock.h"
#include "core/storage/atomic_file.h"
#include "core/storage/session_folder.h"
#include "core/storage/session_target.h"

#include <algorithm>

namespace ulpscope::storage {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::Session;

std::vector<analysis::JudgedOutput> judgedOutputs(const session::RunRecord& run, const std::vector<OutputTensors>& outputs) {
  std::vector<analysis::JudgedOutput> judged;
  for (const OutputTensors& output : outputs) {
    const auto summary = std::find_if(run.outputs.begin(), run.outputs.end(), [&](const auto& s) { return s.name == output.name; });
    const auto axis = summary == run.outputs.end() ? session::SampleAxis{} : session::SampleAxis::fromText(summary->sampleAxis);
    judged.push_back({output.name, {output.reference.bytes.data(), output.reference.dtype, output.shape}, {output.candidate.bytes.data(), output.candidate.dtype, output.shape}, axis});
  }
  return judged;
}

Result<session::Verdict> lockedVerdict(const Session& session, const session::RunRecord& run, const std::vector<OutputTensors>& outputs) {
  const session::CriteriaRevision& revision = session.criteria.back();
  if (auto untouched = session::checkUntouched(revision); !untouched) return untouched.error();
  auto criteria = session::criteriaFromText(revision.canonical);
  if (!criteria) return criteria.error();
  session::Verdict verdict = analysis::judge(criteria.value(), run, session.samples, judgedOutputs(run, outputs));
  verdict.revision = revision.number;
  return verdict;
}

session::Verdict verdictOf(const std::string& masterPath, const Session& session, const session::RunRecord& run, const session::Criteria& criteria) {
  const bool asksForOutputs = std::any_of(criteria.list.begin(), criteria.list.end(), [](const session::Criterion& c) {
    return c.kind == session::Criterion::Kind::tolerance || c.kind == session::Criterion::Kind::shareOutside || c.kind == session::Criterion::Kind::outputMetric;
  });
  const auto outputs = asksForOutputs ? readOutputs(masterPath, session, run.id()) : Result<std::vector<OutputTensors>>(std::vector<OutputTensors>{});
  const std::vector<OutputTensors> none;
  return analysis::judge(criteria, run, session.samples, judgedOutputs(run, outputs ? outputs.value() : none));
}

Result<std::optional<session::Verdict>> standingVerdict(const std::string& masterPath, const Session& session, const session::RunRecord& run) {
  if (session.exploratory()) return std::optional<session::Verdict>();
  const session::CriteriaRevision& locked = session.criteria.back();
  if (auto untouched = session::checkUntouched(locked); !untouched) return untouched.error().within(masterPath);
  if (run.verdict && run.verdict->revision == locked.number && run.verdict->sha256 == locked.sha256) return run.verdict;
  const auto criteria = session::criteriaFromText(locked.canonical);
  if (!criteria) return criteria.error();
  session::Verdict verdict = verdictOf(masterPath, session, run, criteria.value());
  verdict.revision = locked.number;
  return std::optional(std::move(verdict));
}

Result<Session> lockCriteria(const std::string& masterPath, const session::Criteria& criteria, const std::string& reason) {
  const std::string master = resolvedMaster(masterPath);
  if (auto target = checkTarget(master, WriteMode::append); !target) return target.error();
  auto lock = WriteLock::take(folderOfSession(master));
  if (!lock) return lock.error();
  auto view = viewSession(master, Viewer::writer);
  if (!view) return view.error();
  Session session = std::move(view->session);
  for (const session::CriteriaRevision& revision : session.criteria)
    if (auto untouched = session::checkUntouched(revision); !untouched) return untouched.error().within(masterPath);
  const int number = session.criteria.empty() ? 1 : session.criteria.back().number + 1;
  session.criteria.push_back({number, base::utcNow(), criteria.sha256, criteria.canonical, session.hasResults(), reason});
  ++session.generation;
  if (auto written = writeMaster(master, session); !written) return written.error();
  return session;
}

}  // namespace ulpscope::storage
