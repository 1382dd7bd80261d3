// Writes a training's checkpoints, and goes back to the last good one where a rule of the recipe says so. Private to core/train.
#pragma once

#include "core/storage/training_folder.h"
#include "core/train/resume_check.h"
#include "core/train/trajectory_run.h"

#include <string>
#include <vector>

namespace ulpscope::train {

class CheckpointKeeper : public StepWatcher {
 public:
  // every: steps; 0: where the recipe's order names a checkpoint, and at the end.
  CheckpointKeeper(const TrainingFrame& frame, const TrainingFacts& facts, std::string folder, std::int64_t every)
      : m_frame(frame), m_facts(facts), m_folder(std::move(folder)), m_every(every) {}
  void setHistory(const std::vector<session::ResumeRecord>& history);

  // The way back first: recipe, FP32 configuration and the first checkpoint. Throws StepFailure where it cannot be written, or where the
  // recipe's order has no moment for a checkpoint.
  void begin(TrajectoryRun& run) override;
  bool stepDone(TrajectoryRun& run) override;

  const std::vector<session::CheckpointEntry>& entries() const { return m_entries; }
  const std::optional<session::RollbackRecord>& rollback() const { return m_rollback; }

 private:
  const TrainingFrame& m_frame;
  const TrainingFacts& m_facts;
  storage::TrainingFolder m_folder;
  std::int64_t m_every;
  std::string m_history = "[]";
  std::vector<session::CheckpointEntry> m_entries;
  std::optional<session::RollbackRecord> m_rollback;
  std::int64_t m_withoutUpdate = 0;  // steps in a row

  struct Broken {
    std::string rule, text;
  };
  std::optional<Broken> brokenRule(TrajectoryRun& run, const TrajectoryRun::LastStep& last, bool checkpointDue);
  void write(TrajectoryRun& run);
  void goBack(TrajectoryRun& run, const TrajectoryRun::LastStep& last, const Broken& broken);
};

}  // namespace ulpscope::train
