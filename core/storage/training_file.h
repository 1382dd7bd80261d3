// Private: the file of a training's record, `train-NNNN.json`.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/session/training.h"

#include <string>

namespace ulpscope::storage {

// The record as it is stored, with the key "session_id": whose it is.
std::string trainingFileText(const session::Training& training, const std::string& sessionId);

struct StoredTraining {
  session::Training training;
  std::string sessionId;  // empty: written before files said so
  std::string sha256;     // of the file
};
// Error kind input: missing, no plain file, not to its end, no training of that number.
base::Result<StoredTraining> readTrainingFile(const std::string& master, int number);

// Error kind input: missing, no plain file, or not the one that the session names.
base::Status checkTrainingFile(const std::string& master, const session::TrainingEntry& entry);

session::TrainingEntry entryOf(const StoredTraining& stored);

}  // namespace ulpscope::storage
