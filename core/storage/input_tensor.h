// Private: one dataset of a user's file as a RawTensor, bit for bit.
#pragma once

#include "core/storage/h5.h"
#include "core/storage/input_file.h"
#include "core/storage/input_samples.h"

namespace ulpscope::storage {

// Throws h5::Failure, naming the dataset, for a type that PyTorch does not have.
RawTensor readTensor(hid_t group, const std::string& name);
// Throws h5::Failure where a byte of a bool is neither 0 nor 1.
void checkBools(const RawTensor& tensor);
// Dtype and shape alone.
InputShape shapeOfTensor(hid_t group, const std::string& name);
// Entry `index` of `axis`, which is not among the dimensions of the result. Precondition: both exist.
RawTensor readSlice(hid_t group, const std::string& name, int axis, std::int64_t index);

}  // namespace ulpscope::storage
