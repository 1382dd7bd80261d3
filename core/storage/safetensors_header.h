// Private: the JSON header of a safetensors file, read without building what it describes.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope::storage {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // "F32"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes, counted from the header's end
};
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;       // in the header's order
  std::map<std::string, std::string> metadata;  // __metadata__
};

// Error kind input, naming `place` and the tensor: no JSON, another structure than {NAME: {"dtype", "shape", "data_offsets"}}, a name that
// stands twice, numbers that are no sizes.
base::Result<SafetensorsHeader> readSafetensorsHeader(std::string_view json, const std::string& place);

}  // namespace ulpscope::storage
