#include "session_runs.h"

#include "core/base/nearest_names.h"

#include <algorithm>

namespace ulpscope::cli {

using base::Error;
using base::ErrorKind;
using session::RunRecord;

base::Result<const RunRecord*> runNamed(const session::Session& session, const std::string& name, const std::string& path) {
  if (session.runs.empty()) return Error{ErrorKind::inconclusive, "holds no run yet", path, "add one with `ulpscope run ... --append`"};
  if (name.empty()) {
    const auto whole = std::find_if(session.runs.rbegin(), session.runs.rend(), [](const RunRecord& r) { return r.settings.onlySamples.empty(); });
    return whole == session.runs.rend() ? &session.runs.back() : &*whole;
  }
  std::vector<std::string> ids;
  for (const RunRecord& run : session.runs) {
    if (run.id() == name || std::to_string(run.number) == name) return &run;
    ids.push_back(run.id());
  }
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
