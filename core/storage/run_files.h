// Private: the bytes of a run's two files, and back.
#pragma once

#include "core/storage/h5.h"
#include "core/storage/session_store.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ulpscope::storage {

inline constexpr int kMetricsFormat = 3;
inline constexpr int kTensorsFormat = 1;

// Throws h5::Failure when sizes do not fit (a mistake of the caller's, caught before anything is on disk).
std::vector<std::byte> metricsImage(const session::Session& session, const session::RunRecord& run, const RunMetrics& metrics);

// What a new tensors file begins with (gives the run's entry), and what is added to it at its end. Both throw h5::Failure.
h5::Group beginTensorsFile(hid_t file, const std::string& sessionId, const std::string& runId);
void finishTensorsFile(hid_t entry, const session::RunRecord& run, const std::vector<OutputTensors>& outputs);

// Both throw h5::Failure; `path` has been checked to be a plain file.
RunMetrics readMetricsFile(const std::string& path, const session::Session& session, const session::RunRecord& run);
std::vector<OutputTensors> readTensorsFile(const std::string& path, const session::Session& session, const session::RunRecord& run);

// The run's entry in an open tensors file; fails unless the file is this run's.
h5::Group openTensorsEntry(hid_t file, const session::Session& session, const session::RunRecord& run);

// Of a metrics or tensors file; throws for other files.
std::string sessionIdOfRunFile(const std::string& path);
// The run a metrics file is of, its matrices checked against it. run.number must be `number`.
session::RunRecord readRecordOfMetricsFile(const std::string& path, const session::Session& session, int number);
// Throws unless the file is this run's; reads none of its tensors.
void checkTensorsFile(const std::string& path, const session::Session& session, const session::RunRecord& run);

}  // namespace ulpscope::storage
