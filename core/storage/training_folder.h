// The folder of a training's checkpoints, as the training writes it and as a resume, replay or comparison reads it.
#pragma once

#include "core/base/error.h"
#include "core/session/training_case.h"
#include "core/session/training_history.h"
#include "core/storage/training_checkpoint.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

class TrainingFolder {
 public:
  explicit TrainingFolder(std::string path) : m_path(std::move(path)) {}
  // That of training `number` of a session.
  static TrainingFolder of(const std::string& masterPath, int number);
  // The one that a file lies in.
  static TrainingFolder around(const std::string& filePath);

  const std::string& path() const { return m_path; }
  std::string file(const std::string& name) const { return m_path + "/" + name; }
  std::string recipeFile() const;
  // A file that belongs to another: ("step-00000040.h5", ".ts") is step-00000040.ts.
  std::string beside(const std::string& name, const std::string& ending) const;

  // The recipe and its FP32 configuration, the way back, whose paths are made relative to the folder. Written before the first step.
  base::Status writeRecipes(const std::string& recipe, const std::string& fp32) const;
  base::Result<session::CheckpointEntry> write(const TrainingCheckpoint& checkpoint) const;
  base::Result<std::string> write(const session::TrainingCase& item) const;  // gives the file's name
  base::Status write(const session::ComparisonRecord& record) const;

  // A case that went back to this checkpoint, and the comparison made since of exactly that file; empty where there is none.
  std::vector<session::TrainingCase> casesOf(const std::string& checkpointFile) const;
  std::optional<session::ComparisonRecord> comparisonOf(const std::string& checkpointFile, const std::string& sha256) const;

 private:
  std::string m_path;
};

}  // namespace ulpscope::storage
