// A TorchScript file of a model as it stands in a training, and an inputs file of a batch: for the engine, or for PyTorch.
#pragma once

#include "core/base/error.h"
#include "core/engine/inputs.h"
#include "core/storage/training_checkpoint.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::train {

// The file `modelPath` with the checkpoint's parameters, buffers and attributes, written to `path` whole or not at all. Errors: input (either
// file does not fit the other), run (it cannot be written).
base::Status exportModel(const std::string& modelPath, const storage::TrainingCheckpoint& checkpoint, const std::string& path);

// Rows of the set in this order; a row that comes again gets another id ("7", "7 again"). Shared inputs are written whole.
base::Status exportRows(const engine::ReferenceSet& set, const std::vector<std::int64_t>& rows, const std::string& path);

}  // namespace ulpscope::train
