// A scan as asked for: where FP32 and autocast decide otherwise, along a segment, on a plane, or around samples.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::session {

// segment: from one sample to another. near: from each sample along its margin's gradient. plane: the plane through three samples.
enum class ScanKind { segment, near, plane };
std::string name(ScanKind kind);

// Defaults are those of the command line.
struct ScanRequest {
  std::string sessionPath;
  ScanKind kind = ScanKind::segment;
  std::vector<std::string> samples;  // ids of the session's: two of a segment, three of a plane; near: any number, none: all
  std::string runId;                 // whose settings hold ("run_0002"); empty: the latest over all samples
  std::string modelPath, inputsPath; // where they lie now; empty: where the session says. Their fingerprints must be the session's
  std::vector<std::string> fp32, disable;  // regions beside those of the run
  std::string decision, decisionOutput, tie;  // instead of the run's, in the command line's words; empty: the run's
  int batchSize = 0;                 // instead of the run's; 0: the run's
  bool noiseFloor = true;            // FP32 once more in another order and with another thread count (segment and plane)
  std::int64_t steps = 1001;         // segment: points of the grid, both ends among them; 2 to kMostSteps
  std::int64_t grid = 64;            // plane: points on a side; 2 to kMostGrid
  double margin = 0;                 // plane: how far the grid goes beyond the samples, in parts of the sides; 0 to kMostMargin
  double limit = 1;                  // near: the largest step, in parts of the input's L2 norm; above 0, to kMostLimit
  bool store = true;                 // false: the scan is in the answer only, and the session may be read-only
};
inline constexpr std::int64_t kMostSteps = 100'001, kMostGrid = 256;
inline constexpr double kMostMargin = 10, kMostLimit = 1e6;

nlohmann::json toJson(const ScanRequest& request);
base::Result<ScanRequest> scanRequestFromJson(const nlohmann::json& json);

// Error kind usage for what no session could answer: another number of samples, one that stands twice, a number out of its range, words of a
// decision or tie rule that do not exist.
base::Status checkScanRequest(const ScanRequest& request);

}  // namespace ulpscope::session
