// Whether a training may go on from a checkpoint, and as what. No Torch.
#pragma once

#include "core/base/error.h"
#include "core/session/recipe.h"
#include "core/session/training_history.h"
#include "core/storage/training_checkpoint.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::train {

// What the training that goes on is made of.
struct TrainingFacts {
  std::string policyTable, libtorchVersion, modelFingerprint, dataFingerprint;
};

struct Resume {
  storage::TrainingCheckpoint checkpoint;
  std::string file, sha256;  // its name and digest
  std::string change;        // the experimental change's name; empty: nothing may differ
};

// How it goes on.
struct ResumePlan {
  std::vector<session::ResumeRecord> history;  // earlier resumes, then this one
  std::optional<session::ScalerRecipe> scalerBefore;
  bool changed = false;
};

// Errors name every difference: kind run for another model or other data; kind usage for another training, for a difference without a name, a
// name without a difference, and fewer steps than are done; kind input for a checkpoint that cannot be what it should.
base::Result<ResumePlan> checkResume(const session::Recipe& recipe, const TrainingFacts& facts, const Resume& resume);

}  // namespace ulpscope::train
