// Reads the pickles inside a TorchScript archive without building what they describe: how deep they nest, which
// storages they declare, and whether every tensor lies inside its storage.
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

struct PickleContents {
  std::vector<DeclaredStorage> storages;
};

// Errors (kind input) say what is wrong and at which byte.
base::Result<PickleContents> scanPickle(std::string_view bytes);

}  // namespace ulpscope::model
