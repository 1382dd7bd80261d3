// What made a training go back: enough to do the step again, op by op.
#pragma once

#include "core/session/training.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

struct CaseBatch {
  std::vector<std::int64_t> rows;  // of the inputs file
  std::vector<std::string> ids;    // of those samples
  std::uint64_t seed = 0;          // of its random ops
};

// A file beside the checkpoints: case-00000047.json.
struct TrainingCase {
  std::string checkpoint, checkpointSha256;  // the last good one, in the same folder
  std::int64_t fromStep = 0;                 // steps that it has done
  std::int64_t step = 0;                     // in which the rule held
  std::string rule, text;                    // as in RollbackRecord
  std::vector<CaseBatch> batches;            // the step's micro-batches
  std::optional<FirstNonfinite> finding;     // of that step
  std::vector<LedgerLine> lines;             // of the steps from `fromStep` to `step`
};

nlohmann::json toJson(const TrainingCase& item);
// Error kind input, naming the file.
base::Result<TrainingCase> readCase(const std::string& path);

// "" where both are the same to the last bit (NaN equals NaN), else the first number that differs: "step 45, optimizer: loss 0.25, before 0.5".
std::string firstDifference(const std::vector<LedgerLine>& before, const std::vector<LedgerLine>& now);

// Whether going on from a checkpoint that a training went back to was preceded by a comparison on the same set: comparison-00000040.json.
struct ComparisonRecord {
  std::string checkpoint, checkpointSha256;
  std::string session, runId;  // file name of the session that holds it
  std::string summary;         // "argmax: 2 of 256 flip; ..."
};
nlohmann::json toJson(const ComparisonRecord& record);
base::Result<ComparisonRecord> readComparison(const std::string& path);

}  // namespace ulpscope::session
