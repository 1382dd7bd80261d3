// Scans of sessions.
#include "app/engine/requests.h"
#include "core/storage/run_edit.h"
#include "core/storage/scan_store.h"

namespace ulpscope::worker {

using base::Result;
using nlohmann::json;

Result<json> answerScan(engine::Engine& engine, const json& parameters, const base::ProgressSink& progress, std::stop_token stop) {
  auto parsed = session::scanRequestFromJson(parameters);
  if (!parsed) return parsed.error();
  session::ScanRequest& request = parsed.value();
  for (std::string* path : {&request.sessionPath, &request.modelPath, &request.inputsPath}) *path = absolute(*path);
  const auto session = storage::openSession(request.sessionPath);
  if (!session) return session.error();
  if (request.store) {
    if (const std::string holder = storage::lockHolder(request.sessionPath); !holder.empty() && progress) progress({"waiting for " + holder, "", "", 0, 0});
    // Better now than after minutes of work.
    if (auto writable = storage::checkWritable(request.sessionPath, storage::WriteMode::append); !writable) return writable.error();
  }
  auto scan = engine.scan(request, session.value(), progress, stop);
  if (!scan) return scan.error();
  if (!request.store) return json{{"session", request.sessionPath}, {"record", session::toJson(scan.value())}};
  if (progress) progress({"writing", "", "", scan->evaluations, scan->evaluations});
  const auto stored = storage::addScan(request.sessionPath, session.value(), scan.value());
  // A full disk costs the place in the session, not what was found.
  if (!stored) {
    base::Error why = stored.error();
    why.what = "the scan was made, but not stored: " + why.what;
    return json{{"session", request.sessionPath}, {"record", session::toJson(scan.value())}, {"not_stored", base::toJson(why)}};
  }
  return json{{"session", request.sessionPath}, {"scan", stored->scans.back().number}};
}

}  // namespace ulpscope::worker
