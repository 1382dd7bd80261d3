// Private: the bytes of a training's checkpoint, and back (FORMAT.md).
#pragma once

#include "core/storage/h5.h"
#include "core/storage/training_checkpoint.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ulpscope::storage {

inline constexpr int kCheckpointFormat = 1;  // raised when an older Ulpscope could misread the file

// Throws h5::Failure for names and texts that HDF5 cannot hold.
std::vector<std::byte> checkpointImage(const TrainingCheckpoint& checkpoint);
// Throws h5::Failure unless the file says that it is a checkpoint of a format that is read.
void checkCheckpointKind(hid_t file);
// Throws h5::Failure.
TrainingCheckpoint readCheckpointFile(const std::string& path);

}  // namespace ulpscope::storage
