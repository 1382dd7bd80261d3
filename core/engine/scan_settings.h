// What holds for a scan of a session, and whether model and inputs are still the session's. Private to core/engine.
#pragma once

#include "core/base/error.h"
#include "core/session/scan_request.h"
#include "core/session/session.h"

namespace ulpscope::engine {

// The run whose settings hold: the one named, else the latest over all samples, else the latest. Error kind usage: no such run; kind inconclusive: none.
base::Result<const session::RunRecord*> scannedRun(const session::ScanRequest& request, const session::Session& session);

// Its settings, with what the request adds or puts in their place, and the output that decides named. Error kind usage where nothing decides.
base::Result<session::RunSettings> scanSettings(const session::ScanRequest& request, const session::RunRecord& run);

// The axis of that output that counts the samples. Error kind run where the run found none.
base::Result<int> scannedAxis(const session::RunSettings& settings, const session::RunRecord& run);

// Error kind input naming a file that is gone, before anything is loaded.
base::Status checkThere(const std::string& path, const std::string& option);
// Error kind run naming the file that differs.
base::Status checkSameFiles(const session::Session& session, const model::ModelInfo& model, const session::SampleSet& samples);

}  // namespace ulpscope::engine
