// Private: samples of a tensor that lies in a file with strides: of a saved module, or of an array file (plain_arrays.h).
#pragma once

#include "core/model/held_tensors.h"
#include "core/storage/input_samples.h"

#include <functional>

namespace ulpscope::storage {

struct StridedTensor {
  std::string name;
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements, never negative
  std::uint64_t firstByte = 0;        // of its first element, in the storage
};
using Buffers = std::vector<std::vector<std::byte>>;
using WindowReader = std::function<base::Result<Buffers>(const std::vector<model::StorageWindow>&)>;

// As readSamples, its bytes taken from `read`. Precondition: axis and samples exist, the tensor lies within its storage. Error kind input also
// for samples that do not lie in one piece each, where the whole tensor is larger than slices.mostBytes.
base::Result<std::vector<RawTensor>> readStridedSamples(const std::string& path, const StridedTensor& tensor, const SampleSlices& slices, const WindowReader& read);

}  // namespace ulpscope::storage
