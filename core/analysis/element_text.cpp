#include "core/analysis/element_text.h"

#include "core/base/number_text.h"

#include <cmath>
#include <cstring>

namespace ulpscope::analysis {
namespace {

template <typename T>
std::string complexText(const std::byte* bytes, std::string (*text)(double)) {
  T parts[2];
  std::memcpy(parts, bytes, sizeof parts);
  const bool isMinus = std::signbit(parts[1]) && !std::isnan(parts[1]);
  return text(parts[0]) + (isMinus ? " - " : " + ") + text(std::fabs(parts[1])) + "i";
}

}  // namespace

std::string elementText(const TensorView& view, std::int64_t element) {
  alignas(16) std::byte bytes[16];
  packElements(view, element, 1, bytes);
  switch (view.dtype) {
    case base::DType::float64: return base::roundTripNumber(elementAt(view, element));
    case base::DType::float32:
    case base::DType::float16:
    case base::DType::bfloat16: return base::exactNumber(elementAt(view, element));
    case base::DType::int64: {
      std::int64_t value = 0;
      std::memcpy(&value, bytes, sizeof value);
      return base::groupedInteger(value);
    }
    case base::DType::boolean: return bytes[0] == std::byte{0} ? "false" : "true";
    case base::DType::complex64: return complexText<float>(bytes, base::exactNumber);
    case base::DType::complex128: return complexText<double>(bytes, base::roundTripNumber);
    default: return base::groupedInteger(static_cast<std::int64_t>(elementAt(view, element)));
  }
}

}  // namespace ulpscope::analysis
