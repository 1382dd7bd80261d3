// Runs of sessions as the command line names them, and what their verdicts make of the exit code.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <string>

namespace ulpscope::cli {

// "run_0002" or "2"; empty: the latest over all samples, or the latest at all. Error kind usage naming the runs that there are; kind
// inconclusive where there are none.
base::Result<const session::RunRecord*> runNamed(const session::Session& session, const std::string& name, const std::string& path);

// 0 pass, 1 fail, 4 the reference is no baseline, 5 not evaluated. Precondition: the run has a verdict.
int exitCodeOfVerdict(const session::RunRecord& run);

}  // namespace ulpscope::cli
