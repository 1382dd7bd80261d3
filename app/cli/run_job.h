// One run through the engine, from the request to the session read back; `run` and `demo` share it.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <string>

namespace ulpscope::cli {

struct FinishedRun {
  session::Session session;
  std::string runId;
  std::string sessionPath;
  bool newSession = false;  // the run made it
  const session::RunRecord& run() const { return *session.run(runId); }
};

// Errors: the engine's own, or kind run when it crashed, cancelled after Ctrl+C.
base::Result<FinishedRun> performRun(const session::RunRequest& request);

// The exit code that the run itself asks for, apart from --fail-on: its verdict's if it has one; else 4 when the candidate raised, observing
// changed the outputs or FP32 is no baseline, 5 when it is partial, 130 when cancelled, else 0.
int exitCodeOf(const session::RunRecord& run);

// "Next, keep it in FP32 ...: ulpscope run ... --fp32 encoder.0 --append" after a run that has an origin in a module;
// empty otherwise. onlySamplesWord as appendCommand takes it.
std::string nextStep(const FinishedRun& finished, const session::RunRequest& request, const std::string& onlySamplesWord);

}  // namespace ulpscope::cli
