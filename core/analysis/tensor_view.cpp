#include "core/analysis/tensor_view.h"

#include "core/base/error.h"
#include "core/base/float_formats.h"

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

}  // namespace

std::int64_t TensorView::elementCount() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

double elementAt(const TensorView& view, std::int64_t i) {
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
    default: ULPSCOPE_CHECK(!base::isComplex(view.dtype)); return 0;
  }
}

RangeSummary rangeOf(const TensorView& view) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  RangeSummary summary{{kNone, kNone, kNone}, {}, 0, kNone};
  bool any = false;
  for (std::int64_t i = 0, n = view.elementCount(); i < n; ++i) {
    const double x = elementAt(view, i);
    if (std::isnan(x)) {
      ++summary.nonfinite.nan;
    } else if (std::isinf(x)) {
      ++(x > 0 ? summary.nonfinite.plusInf : summary.nonfinite.minusInf);
    } else {
      session::ValueRange& r = summary.range;
      const double magnitude = std::fabs(x);
      r.min = any ? std::min(r.min, x) : x;
      r.max = any ? std::max(r.max, x) : x;
      r.maxAbs = any ? std::max(r.maxAbs, magnitude) : magnitude;
      if (magnitude == 0)
        ++summary.zeros;
      else if (!(summary.smallestNonZero <= magnitude))
        summary.smallestNonZero = magnitude;
      any = true;
    }
  }
  return summary;
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
