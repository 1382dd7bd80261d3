#include "app/engine/run_target.h"

#include "core/storage/session_store.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace ulpscope::worker {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;
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

Error differs(const session::RunRequest& request, const std::string& what, const std::string& was, const std::string& is) {
  return Error{ErrorKind::run, what + " differs: " + was.substr(0, 16) + " in the session, " + is.substr(0, 16) + " now", request.sessionPath,
               "compare runs of one experiment; write a new session with --session"};
}

Status checkSameSettings(const session::Session& session, const session::RunRequest& request) {
  if (session.runs.empty()) return base::success();
  const session::RunSettings& first = session.runs.front().settings;
  const session::RunSettings& now = request.settings;
  if (first.trainMode != now.trainMode) return differs(request, "train/eval mode", first.trainMode ? "train" : "eval", now.trainMode ? "train" : "eval");
  if (first.batchSize != now.batchSize) return differs(request, "the batch size", std::to_string(first.batchSize), std::to_string(now.batchSize));
  if (first.seed != now.seed) return differs(request, "the seed", std::to_string(first.seed), std::to_string(now.seed));
  if (first.batchAxis != now.batchAxis) return differs(request, "the batch axes of the inputs", json(first.batchAxis).dump(), json(now.batchAxis).dump());
  return base::success();
}

// Runs of one session must be comparable: nothing but the precision policy may differ.
Status checkSameExperiment(const session::Session& session, const session::RunRequest& request, const model::ModelInfo& model,
                           const session::SampleSet& samples) {
  const model::Fingerprint& was = session.model.fingerprint;
  if (was.codeSha256 != model.fingerprint.codeSha256) return differs(request, "the model's code", was.codeSha256, model.fingerprint.codeSha256);
  if (was.weightsSha256 != model.fingerprint.weightsSha256)
    return differs(request, "the model's weights", was.weightsSha256, model.fingerprint.weightsSha256);
  if (session.samples.sha256 != samples.sha256) return differs(request, "the inputs file", session.samples.sha256, samples.sha256);
  return checkSameSettings(session, request);
}

}  // namespace

Status RunTarget::check() const {
  return inFittingMode(m_request, [&](WriteMode mode) { return storage::checkWritable(m_request.sessionPath, mode); });
}

Status RunTarget::begin(const model::ModelInfo& model, const session::SampleSet& samples) {
  session::Session session = storage::newSession(fs::path(m_request.modelPath).stem().string());
  session.model = model;
  session.samples = samples;
  session.creatorVersion = ULPSCOPE_VERSION;
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
  }
  return m_writer->finish(std::move(run), metrics, outputs);
}

}  // namespace ulpscope::worker
