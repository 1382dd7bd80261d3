// Outputs as sessions hold them, from float32 values and back.
#pragma once

#include "core/base/float_formats.h"
#include "core/storage/session_store.h"

#include <cstring>
#include <vector>

namespace ulpscope::tests {

// Rounded to dtype: float32, float16 or bfloat16.
inline storage::StoredElements storedElements(base::DType dtype, const std::vector<float>& values) {
  storage::StoredElements elements{dtype, std::vector<std::byte>(values.size() * base::sizeBytes(dtype))};
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* at = elements.bytes.data() + i * base::sizeBytes(dtype);
    const std::uint16_t low = dtype == base::DType::float16 ? base::halfFromFloat(values[i]) : base::bfloat16FromFloat(values[i]);
    dtype == base::DType::float32 ? std::memcpy(at, &values[i], 4) : std::memcpy(at, &low, 2);
  }
  return elements;
}

inline std::vector<float> floatsOf(const storage::StoredElements& elements) {
  const std::size_t size = base::sizeBytes(elements.dtype);
  std::vector<float> values(elements.bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t low = 0;
    if (elements.dtype == base::DType::float32)
      std::memcpy(&values[i], elements.bytes.data() + i * size, 4);
    else
      std::memcpy(&low, elements.bytes.data() + i * size, 2);
    if (elements.dtype == base::DType::float16) values[i] = base::floatFromHalf(low);
    if (elements.dtype == base::DType::bfloat16) values[i] = base::floatFromBfloat16(low);
  }
  return values;
}

}  // namespace ulpscope::tests
