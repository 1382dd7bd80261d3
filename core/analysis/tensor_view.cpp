#include "core/analysis/tensor_view.h"

#include "core/analysis/sample_ranges.h"
#include "core/base/error.h"
#include "core/base/float_formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope::analysis {
namespace {

template <typename T>
T load(const void* data, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

std::vector<std::int64_t> rowMajorStrides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// Where element i lies, in elements from `data`.
std::int64_t offsetOf(const TensorView& view, std::int64_t i) {
  if (view.strides.empty()) return i;
  std::int64_t offset = 0;
  for (std::size_t d = view.shape.size(); d-- > 0; i /= view.shape[d]) offset += i % view.shape[d] * view.strides[d];
  return offset;
}

// Walks a strided view along its last dimension, then the ones before it.
template <typename T>
void packStrided(const TensorView& view, std::int64_t first, std::int64_t count, T* out) {
  const std::size_t last = view.shape.size() - 1;
  std::vector<std::int64_t> index(view.shape.size());
  for (std::size_t d = view.shape.size(), i = static_cast<std::size_t>(first); d-- > 0; i /= static_cast<std::size_t>(view.shape[d]))
    index[d] = static_cast<std::int64_t>(i) % view.shape[d];
  const T* from = static_cast<const T*>(view.data) + offsetOf(view, first);
  while (count > 0) {
    const std::int64_t step = view.strides[last];
    const std::int64_t run = std::min(count, view.shape[last] - index[last]);
    if (step == 1)
      std::memcpy(out, from, static_cast<std::size_t>(run) * sizeof(T));
    else
      for (std::int64_t i = 0; i < run; ++i) out[i] = from[i * step];
    out += run;
    count -= run;
    from -= index[last] * step;
    index[last] = 0;
    for (std::size_t d = last; d-- > 0;) {
      from += view.strides[d];
      if (++index[d] < view.shape[d]) break;
      from -= view.shape[d] * view.strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

std::int64_t TensorView::elementCount() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

bool TensorView::isContiguous() const {
  if (strides.empty()) return true;
  const std::vector<std::int64_t> expected = rowMajorStrides(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != expected[d]) return elementCount() == 0;
  return true;
}

double elementAt(const TensorView& view, std::int64_t element) {
  const std::int64_t i = offsetOf(view, element);
  switch (view.dtype) {
    case base::DType::float64: return load<double>(view.data, i);
    case base::DType::float32: return load<float>(view.data, i);
    case base::DType::float16: return base::floatFromHalf(load<std::uint16_t>(view.data, i));
    case base::DType::bfloat16: return base::floatFromBfloat16(load<std::uint16_t>(view.data, i));
    case base::DType::int64: return static_cast<double>(load<std::int64_t>(view.data, i));
    case base::DType::int32: return load<std::int32_t>(view.data, i);
    case base::DType::int16: return load<std::int16_t>(view.data, i);
    case base::DType::int8: return load<std::int8_t>(view.data, i);
    case base::DType::uint8:
    case base::DType::boolean: return load<std::uint8_t>(view.data, i);
    case base::DType::complex64: return modulusOf({load<float>(view.data, 2 * i), load<float>(view.data, 2 * i + 1)});
    case base::DType::complex128: return modulusOf({load<double>(view.data, 2 * i), load<double>(view.data, 2 * i + 1)});
  }
  return 0;
}

double modulusOf(std::complex<double> z) {
  if (std::isnan(z.real()) || std::isnan(z.imag())) return std::numeric_limits<double>::quiet_NaN();  // hypot(NaN, inf) is inf
  return std::hypot(z.real(), z.imag());
}

void packElements(const TensorView& view, std::int64_t first, std::int64_t count, void* out) {
  const std::size_t size = base::sizeBytes(view.dtype);
  if (count == 0) return;
  if (view.isContiguous()) {
    std::memcpy(out, static_cast<const std::byte*>(view.data) + static_cast<std::size_t>(first) * size, static_cast<std::size_t>(count) * size);
    return;
  }
  switch (size) {
    case 1: return packStrided(view, first, count, static_cast<std::uint8_t*>(out));
    case 2: return packStrided(view, first, count, static_cast<std::uint16_t*>(out));
    case 4: return packStrided(view, first, count, static_cast<std::uint32_t*>(out));
    case 8: return packStrided(view, first, count, static_cast<std::uint64_t*>(out));
    default: ULPSCOPE_CHECK(size == 16); return packStrided(view, first, count, static_cast<std::complex<double>*>(out));
  }
}

RangeSummary emptyRange() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {{kNone, kNone, kNone}, {}, 0, kNone};
}

void add(RangeSummary& summary, double x) {
  if (std::isnan(x)) {
    ++summary.nonfinite.nan;
    return;
  }
  if (std::isinf(x)) {
    ++(x > 0 ? summary.nonfinite.plusInf : summary.nonfinite.minusInf);
    return;
  }
  // Negated comparisons: the first element replaces NaN.
  session::ValueRange& r = summary.range;
  const double magnitude = std::fabs(x);
  if (!(r.min <= x)) r.min = x;
  if (!(r.max >= x)) r.max = x;
  if (!(r.maxAbs >= magnitude)) r.maxAbs = magnitude;
  if (magnitude == 0)
    ++summary.zeros;
  else if (!(summary.smallestNonZero <= magnitude))
    summary.smallestNonZero = magnitude;
}

RangeSummary rangeOf(const TensorView& view) {
  SampleLayout whole;
  whole.inner = view.elementCount();
  return rangesOf(view, whole).front();
}

std::int64_t SampleLayout::sampleOf(std::int64_t a) const {
  switch (kind) {
    case session::SampleAxis::Kind::wholeBatch: return 0;
    case session::SampleAxis::Kind::plain: return a;
    case session::SampleAxis::Kind::sampleMajor: return a / (axis / samples);
    case session::SampleAxis::Kind::sampleMinor: return a % samples;
  }
  return 0;
}

SampleLayout layoutOf(const std::vector<std::int64_t>& shape, const session::SampleAxis& axis, std::int64_t samples) {
  using Kind = session::SampleAxis::Kind;
  SampleLayout layout;
  const auto rank = static_cast<int>(shape.size());
  const bool inRange = axis.kind != Kind::wholeBatch && axis.axis >= 0 && axis.axis < rank && samples > 0;
  const std::int64_t size = inRange ? shape[static_cast<std::size_t>(axis.axis)] : 0;
  const bool fits = inRange && size > 0 && (axis.kind == Kind::plain ? size == samples : size % samples == 0);
  if (!fits) {
    for (const std::int64_t s : shape) layout.inner *= s;
    return layout;
  }
  for (int d = 0; d < rank; ++d) {
    const std::int64_t s = shape[static_cast<std::size_t>(d)];
    if (d < axis.axis)
      layout.outer *= s;
    else if (d > axis.axis)
      layout.inner *= s;
  }
  layout.axis = size;
  layout.samples = samples;
  layout.kind = axis.kind;
  return layout;
}

}  // namespace ulpscope::analysis
