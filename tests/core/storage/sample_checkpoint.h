// A training's checkpoint with every field set to something that could get lost.
#pragma once

#include "core/storage/training_checkpoint.h"

#include <string>
#include <vector>

namespace ulpscope::tests {

// Of any elements: bytes that count up from `first`, 0 and 1 in turn for bools.
storage::RawTensor tensorOf(const std::string& name, base::DType dtype, const std::vector<std::int64_t>& shape, int first = 1);
storage::TrainingCheckpoint sampleCheckpoint();

// Everything it holds, for comparing: bytes and the bits of numbers as hex digits.
std::string allOf(const storage::TrainingCheckpoint& checkpoint);

}  // namespace ulpscope::tests
