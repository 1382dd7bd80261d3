#include "app/engine/run_target.h"

#include "core/base/clock.h"
#include "core/base/hashing.h"
#include "core/session/comparable.h"
#include "core/storage/run_verdict.h"
#include "core/storage/session_store.h"

#include <filesystem>

namespace ulpscope::worker {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using storage::WriteMode;

// Another process may make the session, or fail and take it away again, between a look and the deed.
constexpr int kAttempts = 5;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

WriteMode newMode(const session::RunRequest& request) { return request.append ? WriteMode::share : WriteMode::create; }
WriteMode modeNow(const session::RunRequest& request) { return request.append && exists(request.sessionPath) ? WriteMode::append : newMode(request); }

// What `attempt` gives in the mode that fits. Again where it failed for a session that came or went meanwhile.
template <typename Attempt>
Status inFittingMode(const session::RunRequest& request, const Attempt& attempt) {
  for (int i = 1;; ++i) {
    const WriteMode mode = modeNow(request);
    Status status = attempt(mode);
    if (status || i == kAttempts || modeNow(request) == mode) return status;
  }
}

session::Session asked(const session::RunRequest& request, const model::ModelInfo& model, const session::SampleSet& samples) {
  session::Session session = storage::newSession(fs::path(request.modelPath).stem().string());
  session.model = model;
  session.samples = samples;
  session.creatorVersion = ULPSCOPE_VERSION;
  return session;
}

// Runs of one session must be comparable: nothing but the precision policy may differ.
Status checkSameExperiment(const session::Session& session, const session::RunRequest& request, const model::ModelInfo& model, const session::SampleSet& samples) {
  const session::RunRecord* ran = session.firstEver();
  const session::RunSettings& first = ran ? ran->settings : request.settings;
  return session::checkComparable(session::differences(session, first, asked(request, model, samples), request.settings), request.sessionPath);
}

Status checkSameSettings(const session::Session& session, const session::RunRequest& request) {
  const session::RunRecord* ran = session.firstEver();
  return ran ? session::checkComparable(session::differences(ran->settings, request.settings), request.sessionPath) : base::success();
}

// A lock is never undone, and none is made where results are known.
Status checkCriteria(const session::Session& session, const session::RunRequest& request) {
  if (request.criteria.empty()) return base::success();
  const std::string which = "--criteria";
  if (session.exploratory())
    return Error{ErrorKind::usage, "the session has exploratory runs, so these criteria would be written after their results", which,
                 "name a new session with --session, and this one with --explored"};
  const session::CriteriaRevision& locked = session.criteria.back();
  if (locked.canonical == request.criteria) return base::success();
  return Error{ErrorKind::usage, "differs from locked revision " + std::to_string(locked.number), which, "use `ulpscope criteria revise`, or leave --criteria out"};
}

}  // namespace

Status RunTarget::check() const {
  return inFittingMode(m_request, [&](WriteMode mode) { return storage::checkWritable(m_request.sessionPath, mode); });
}

Status RunTarget::begin(const model::ModelInfo& model, const session::SampleSet& samples) {
  session::Session session = asked(m_request, model, samples);
  if (!m_request.criteria.empty()) session.criteria = {{1, base::utcNow(), base::sha256(m_request.criteria), m_request.criteria, false, ""}};
  session.explored = m_request.explored;
  if (session.explored) session.explored->sameSamples = session.explored->samplesSha256 == samples.sha256;
  auto begun = storage::RunWriter::begin(m_request.sessionPath, std::move(session), newMode(m_request));
  if (!begun) return begun.error();
  m_writer.emplace(std::move(begun).value());
  m_made = true;
  return base::success();
}

Status RunTarget::add(const model::ModelInfo& model, const session::SampleSet& samples) {
  auto session = storage::openSession(m_request.sessionPath);
  if (!session) return session.error();
  if (auto same = checkSameExperiment(session.value(), m_request, model, samples); !same) return same;
  if (auto criteria = checkCriteria(session.value(), m_request); !criteria) return criteria;
  auto begun = storage::RunWriter::begin(m_request.sessionPath, std::move(session).value(), WriteMode::append);
  if (!begun) return begun.error();
  m_writer.emplace(std::move(begun).value());
  return base::success();
}

Result<storage::RunWriter*> RunTarget::open(const model::ModelInfo& model, const session::SampleSet& samples) {
  auto opened = inFittingMode(m_request, [&](WriteMode mode) { return mode == WriteMode::append ? add(model, samples) : begin(model, samples); });
  if (!opened) return opened.error();
  return &*m_writer;
}

Result<session::Session> RunTarget::finish(session::RunRecord run, const storage::RunMetrics& metrics, const std::vector<storage::OutputTensors>& outputs) {
  if (exists(m_request.sessionPath)) {
    const auto now = storage::openSession(m_request.sessionPath);
    if (!now) return now.error();
    if (auto same = checkSameSettings(now.value(), m_request); !same) return same.error();
    if (!now->exploratory()) {
      auto verdict = storage::lockedVerdict(now.value(), run, outputs);
      if (!verdict) return verdict.error();
      run.verdict = std::move(verdict).value();
    }
  }
  return m_writer->finish(std::move(run), metrics, outputs);
}

}  // namespace ulpscope::worker
