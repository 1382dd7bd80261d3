// Reads the pickles inside a TorchScript archive without building what they describe: how deep they nest, which
// storages they declare, whether every tensor lies inside its storage, and which tensors the object they describe holds.
//
// Knows the opcodes that torch.jit's pickler writes (torch/csrc/jit/serialization/pickler.cpp) and refuses others.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope::model {

// A storage as its persistent id declares it: ('storage', class, key, location, elements).
struct DeclaredStorage {
  std::string key;
  std::uint64_t sizeBytes = 0;
};

// A tensor that the outermost object holds as an attribute.
struct PickledTensor {
  std::string name;          // of the attribute
  std::string storageClass;  // "FloatStorage"
  std::string storageKey;
  std::int64_t offset = 0;   // in elements, as the strides
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

struct PickleContents {
  std::vector<DeclaredStorage> storages;
  std::vector<PickledTensor> members;  // in the pickle's order; quantised tensors are left out
};

// Errors (kind input) say what is wrong and at which byte.
base::Result<PickleContents> scanPickle(std::string_view bytes);

}  // namespace ulpscope::model
