// Where a training can be taken up again, where it was, and where it was taken back.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::session {

// A checkpoint of the recipe's trajectory, after `step` steps. The file lies in the training's folder of checkpoints.
struct CheckpointEntry {
  std::int64_t step = 0;
  std::string file;    // "step-00000040.h5"
  std::string sha256;  // of the file
  bool good = true;    // one to return to: finite, and within the recipe's rollback rules
};

// What differs from the recipe that the checkpoint was made with: "autocast, dtype: float16 -> bfloat16".
struct RecipeDifference {
  std::string key, before, after;  // values as JSON; empty: not there
  std::string text() const;
};

// Taken up again at a checkpoint.
struct ResumeRecord {
  std::int64_t step = 0;   // steps that were done
  std::string checkpoint;  // the file's name
  std::string sha256;      // of the file
  std::string change;      // the experimental change's name; empty: nothing was changed
  std::vector<RecipeDifference> differences;
};

// Taken back to a checkpoint by a rule of the recipe; the training ends there.
struct RollbackRecord {
  std::int64_t step = 0;    // in which the rule held
  std::int64_t toStep = 0;  // steps that the checkpoint has done
  std::string rule;         // "outputs_nonfinite", "min_accuracy", "max_loss", "no_update_in"
  std::string text;         // what was found
  std::string checkpoint, caseFile;  // names of files in the folder of checkpoints
};

nlohmann::json toJson(const CheckpointEntry& entry);
nlohmann::json toJson(const ResumeRecord& record);
nlohmann::json toJson(const RollbackRecord& record);
// Throw nlohmann::json::exception on anything else.
CheckpointEntry checkpointEntryFromJson(const nlohmann::json& json);
ResumeRecord resumeRecordFromJson(const nlohmann::json& json);
RollbackRecord rollbackRecordFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
