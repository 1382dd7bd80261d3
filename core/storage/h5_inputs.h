// Private: the HDF5 side of input_file.h and input_samples.h. Everything here throws h5::Failure; its callers are in guardedRead().
#pragma once

#include "core/storage/h5.h"
#include "core/storage/input_samples.h"

namespace ulpscope::storage {

InputFile readH5Inputs(const std::string& path);
std::vector<InputShape> h5InputShapes(const std::string& path);
std::vector<RawTensor> readH5Samples(const std::string& path, const SampleSlices& slices);
Truth readH5Truth(const std::string& path);
std::vector<std::string> readH5ClassNames(const std::string& path);

}  // namespace ulpscope::storage
