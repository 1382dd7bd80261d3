// Single samples of inputs of any kind (input_kind.h): what thumbnails are made of. Nothing else is read of HDF5, npy, safetensors and images;
// a saved tensor's storage and a record of an npz go by once for all samples of a call.
#pragma once

#include "core/storage/input_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

struct InputShape {
  std::string name;
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;  // of all samples
};
// The inputs, by name; what else the file holds (labels, targets, expected outputs) is left out. Reads no values.
// Errors as readInputFile's, or model::heldTensors'. In the order of forward's arguments where nobody named them, else by name.
base::Result<std::vector<InputShape>> inputShapes(const std::string& path);

struct SampleSlices {
  std::string input;
  int axis = 0;                        // counts the samples; -1: one tensor that all samples share
  std::vector<std::int64_t> samples;
  std::size_t mostBytes = std::size_t{64} << 20;  // of one sample
};
// One tensor a sample, the sample axis taken out; with axis -1 the same whole tensor each time. Error kind input also for an input that
// is not there, an axis or sample that it does not have, and samples larger than mostBytes.
base::Result<std::vector<RawTensor>> readSamples(const std::string& path, const SampleSlices& slices);

}  // namespace ulpscope::storage
