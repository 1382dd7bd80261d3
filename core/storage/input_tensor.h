// Private: one dataset of a user's file as a RawTensor, bit for bit.
#pragma once

#include "core/storage/h5.h"
#include "core/storage/input_file.h"

namespace ulpscope::storage {

// Throws h5::Failure, naming the dataset, for a type that PyTorch does not have.
RawTensor readTensor(hid_t group, const std::string& name);

}  // namespace ulpscope::storage
