// The benchmarks of a session: they stand in its master.
#pragma once

#include "core/session/session.h"

#include <string>

namespace ulpscope::storage {

// Gives it the next number and writes it. Gives the session as it then stands. Error kind input: the session is another than the one of that id, or
// has no longer the run that was timed; else as addRun's.
base::Result<session::Session> addBenchmark(const std::string& masterPath, const std::string& sessionId, session::Benchmark benchmark);

}  // namespace ulpscope::storage
