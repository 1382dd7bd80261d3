#include "core/analysis/element_pairs.h"

#include "core/base/error.h"
#include "core/base/float_formats.h"

#include <cmath>
#include <cstring>

namespace ulpscope::analysis {
namespace {

using base::DType;

template <typename T, typename Widen>
void widenAs(const TensorView& view, std::int64_t first, std::int64_t count, double* out, Widen&& widen) {
  const auto* from = static_cast<const std::byte*>(view.data) + static_cast<std::size_t>(first) * sizeof(T);
  for (std::int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    out[i] = widen(value);
  }
}

template <typename T>
T at(const TensorView& view, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(view.data) + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

std::complex<double> complexAt(const TensorView& view, std::int64_t i) {
  if (view.dtype == DType::complex128) return at<std::complex<double>>(view, i);
  if (view.dtype == DType::complex64) return std::complex<double>(at<std::complex<float>>(view, i));
  return elementAt(view, i);
}

// Of 2^63 and more apart too: as unsigned numbers the subtraction cannot overflow.
double integerDifference(std::int64_t from, std::int64_t to) {
  const auto a = static_cast<std::uint64_t>(from), b = static_cast<std::uint64_t>(to);
  return to >= from ? static_cast<double>(b - a) : -static_cast<double>(a - b);
}

}  // namespace

bool isNonfiniteInOne(const ElementPair& pair) {
  if (std::isfinite(pair.reference) && std::isfinite(pair.candidate)) return false;
  return pair.reference != pair.candidate && !(std::isnan(pair.reference) && std::isnan(pair.candidate));
}

void widenElements(const TensorView& view, std::int64_t first, std::int64_t count, double* out) {
  ULPSCOPE_CHECK(view.isContiguous());
  const auto same = [](auto value) { return static_cast<double>(value); };
  switch (view.dtype) {
    case DType::float64: return widenAs<double>(view, first, count, out, same);
    case DType::float32: return widenAs<float>(view, first, count, out, same);
    case DType::float16: return widenAs<std::uint16_t>(view, first, count, out, [](std::uint16_t bits) { return static_cast<double>(base::floatFromHalf(bits)); });
    case DType::bfloat16: return widenAs<std::uint16_t>(view, first, count, out, [](std::uint16_t bits) { return static_cast<double>(base::floatFromBfloat16(bits)); });
    case DType::int64: return widenAs<std::int64_t>(view, first, count, out, same);
    case DType::int32: return widenAs<std::int32_t>(view, first, count, out, same);
    case DType::int16: return widenAs<std::int16_t>(view, first, count, out, same);
    case DType::int8: return widenAs<std::int8_t>(view, first, count, out, same);
    case DType::uint8:
    case DType::boolean: return widenAs<std::uint8_t>(view, first, count, out, same);
    case DType::complex64:
    case DType::complex128:
      for (std::int64_t i = 0; i < count; ++i) out[i] = elementAt(view, first + i);
  }
}

void widenPairs(const ReferenceView& reference, const CandidateView& candidate, std::int64_t first, std::int64_t count, ElementPair* out) {
  ULPSCOPE_CHECK(count <= kPairChunk && reference.value.shape == candidate.value.shape);
  std::array<double, kPairChunk> a, b;
  widenElements(reference.value, first, count, a.data());
  widenElements(candidate.value, first, count, b.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) out[i] = {a[i], b[i], b[i] - a[i]};
  if (reference.value.dtype == DType::int64 && candidate.value.dtype == DType::int64)
    for (std::int64_t i = 0; i < count; ++i) out[i].difference = integerDifference(at<std::int64_t>(reference.value, first + i), at<std::int64_t>(candidate.value, first + i));
  if (base::isComplex(reference.value.dtype) || base::isComplex(candidate.value.dtype))
    for (std::int64_t i = 0; i < count; ++i) out[i].difference = modulusOf(complexAt(candidate.value, first + i) - complexAt(reference.value, first + i));
}

}  // namespace ulpscope::analysis
