// Tensors of a module that only holds tensors (`ulpscope snippet` writes inputs.pt so), read without LibTorch.
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::model {

struct HeldTensor {
  std::string name;
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements, never negative
  std::int64_t offset = 0;            // in elements, into its storage
  std::string storageKey;
};

// The module's own tensors, in the file's order; of element types that base::DType lacks, none. Reads no values. Error kind input: no
// archive, one without data.pkl, a damaged one, one of a big-endian machine.
base::Result<std::vector<HeldTensor>> heldTensors(const std::string& path);

// Bytes [first, first + count) of a storage.
struct StorageWindow {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
// One buffer a window, in one pass over the storage. Error kind input also for a storage that is not there or ends before a window does.
base::Result<std::vector<std::vector<std::byte>>> readStorage(const std::string& path, const std::string& storageKey, const std::vector<StorageWindow>& windows);

}  // namespace ulpscope::model
