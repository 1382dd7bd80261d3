#include "session_runs.h"

#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <algorithm>

namespace ulpscope::cli {

using base::Error;
using base::ErrorKind;
using session::RunRecord;

namespace {

Error noRuns(const session::Session& session, const std::string& path) {
  if (session.deleted.empty()) return Error{ErrorKind::inconclusive, "holds no run yet", path, "add one with `ulpscope run ... --append`"};
  return Error{ErrorKind::inconclusive, "holds no run: " + base::counted(static_cast<std::int64_t>(session.deleted.size()), "run") + " deleted", path,
               "bring one back with `ulpscope repair " + path + " --restore RUN`"};
}

}  // namespace

base::Result<const RunRecord*> runNamed(const session::Session& session, const std::string& name, const std::string& path) {
  if (session.runs.empty()) return noRuns(session, path);
  if (name.empty()) {
    const auto whole = std::find_if(session.runs.rbegin(), session.runs.rend(), [](const RunRecord& r) { return r.settings.onlySamples.empty(); });
    return whole == session.runs.rend() ? &session.runs.back() : &*whole;
  }
  std::vector<std::string> ids;
  for (const RunRecord& run : session.runs) {
    if (run.id() == name || std::to_string(run.number) == name) return &run;
    ids.push_back(run.id());
  }
  for (const session::DeletedRun& deleted : session.deleted)
    if (deleted.run.id() == name || std::to_string(deleted.run.number) == name)
      return Error{ErrorKind::usage, "was deleted from " + path, name, "bring it back with `ulpscope repair " + path + " --restore " + name + "`, or name " + base::quotedChoice(ids)};
  return Error{ErrorKind::usage, "is no run of " + path, name, "it has " + base::quotedChoice(ids)};
}

int exitCodeOfVerdict(const RunRecord& run) {
  switch (run.verdict->status) {
    case session::JudgedAs::pass: return 0;
    case session::JudgedAs::fail: return 1;
    case session::JudgedAs::notEvaluated: break;
  }
  return base::exitCode(run.unexplained() ? ErrorKind::run : ErrorKind::inconclusive);
}

}  // namespace ulpscope::cli
