#include "run_job.h"

#include "core/storage/session_care.h"
#include "core/storage/session_store.h"
#include "engine_client.h"
#include "run_command_line.h"
#include "session_runs.h"

#include <algorithm>

namespace ulpscope::cli {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

namespace {

// The engine is gone when it returns: an answer, or an engine that was killed.
Result<json> askForRun(const session::RunRequest& request) {
  auto client = EngineClient::start();
  if (!client) return client.error();
  return client.value().ask([&](int id) { return protocol::encodeRun(id, request); }, shownPath(request.modelPath));
}

}  // namespace

Result<FinishedRun> performRun(const session::RunRequest& request) {
  const auto answer = askForRun(request);
  if (!answer) {
    // An engine that was killed could not clear up. What cannot be removed now, `repair` names.
    static_cast<void>(storage::removeDeadParts(request.sessionPath));
    return answer.error();
  }
  const json& result = answer.value();
  const bool whole = result.is_object() && result.contains("session") && result["session"].is_string() &&
                     result.contains("run_id") && result["run_id"].is_string();
  if (!whole) return Error{ErrorKind::internal, "the engine's answer names no session and run", shownPath(request.modelPath), ""};
  auto session = storage::openSession(shownPath(result["session"]));
  if (!session) return session.error();
  FinishedRun finished{std::move(session).value(), result["run_id"], shownPath(result["session"]), result.value("new_session", json()) == json(true)};
  if (!finished.session.run(finished.runId))
    return Error{ErrorKind::internal, "does not hold the run that the engine reported, " + finished.runId, finished.sessionPath, ""};
  return finished;
}

int exitCodeOf(const session::RunRecord& run) {
  if (run.verdict) return exitCodeOfVerdict(run);
  if (run.candidateError || run.probeCheck == "differs" || run.unexplained()) return base::exitCode(ErrorKind::run);
  if (run.status == session::RunStatus::cancelled) return base::exitCode(ErrorKind::cancelled);
  return run.status == session::RunStatus::partial ? base::exitCode(ErrorKind::inconclusive) : 0;
}

std::string nextStep(const FinishedRun& finished, const session::RunRequest& request, const std::string& onlySamplesWord) {
  const auto& origins = finished.run().nonfiniteOrigins;
  if (origins.empty() || origins.front().site < 0) return "";
  const std::string module = origins.front().modulePath.empty() ? "." : origins.front().modulePath;
  session::RunRequest next = request;
  std::vector<std::string>& kept = next.settings.fp32;
  if (std::find(kept.begin(), kept.end(), module) != kept.end()) return "";
  kept.push_back(module);
  return "Next, keep it in FP32 and compare: " + appendCommand(next, onlySamplesWord) + "\n";
}

}  // namespace ulpscope::cli
