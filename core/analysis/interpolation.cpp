// Built without contraction: a fused multiply-add would round once less than what the header promises.
#include "core/analysis/interpolation.h"

#include "core/base/error.h"
#include "core/base/float_formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ulpscope::analysis {
namespace {

std::vector<std::byte> packed(const TensorView& view) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(view.elementCount()) * base::sizeBytes(view.dtype));
  packElements(view, 0, view.elementCount(), bytes.data());
  return bytes;
}

std::vector<double> doublesOf(const TensorView& view) {
  std::vector<double> values(static_cast<std::size_t>(view.elementCount()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = elementAt(view, static_cast<std::int64_t>(i));
  return values;
}

bool isSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <typename T, typename Round>
std::vector<std::byte> rounded(const std::vector<double>& values, const Round& round) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = round(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

std::vector<std::byte> roundedInto(base::DType dtype, const std::vector<double>& values) {
  switch (dtype) {
    case base::DType::float64: return rounded<double>(values, [](double x) { return x; });
    case base::DType::float16: return rounded<std::uint16_t>(values, base::halfFromDouble);
    case base::DType::bfloat16: return rounded<std::uint16_t>(values, base::bfloat16FromDouble);
    default: break;
  }
  ULPSCOPE_CHECK(dtype == base::DType::float32);
  return rounded<float>(values, [](double x) { return static_cast<float>(x); });
}

// 0 for A, k + 1 for end k; -1: none of them.
int cornerOf(const std::vector<double>& coefficients) {
  int corner = 0;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    if (coefficients[k] == 0) continue;
    if (coefficients[k] != 1 || corner != 0) return -1;
    corner = static_cast<int>(k) + 1;
  }
  return corner;
}

}  // namespace

InputPath InputPath::towards(const TensorView& a, const std::vector<TensorView>& ends) {
  InputPath path = along(a, {});
  path.m_directions.clear();
  for (const TensorView& end : ends) {
    ULPSCOPE_CHECK(end.shape == a.shape && end.dtype == a.dtype);
    std::vector<double> direction = doublesOf(end);
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = isSame(path.m_start[i], direction[i]) ? 0 : direction[i] - path.m_start[i];
    path.m_directions.push_back(std::move(direction));
    path.m_exact.push_back(packed(end));
  }
  return path;
}

InputPath InputPath::along(const TensorView& a, std::vector<double> direction) {
  ULPSCOPE_CHECK(base::isFloating(a.dtype));
  InputPath path;
  path.m_dtype = a.dtype;
  path.m_start = doublesOf(a);
  path.m_exact = {packed(a)};
  path.m_directions.push_back(std::move(direction));
  return path;
}

std::vector<std::byte> InputPath::at(const std::vector<double>& coefficients) const {
  ULPSCOPE_CHECK(coefficients.size() == m_directions.size());
  const int corner = cornerOf(coefficients);
  if (corner >= 0 && static_cast<std::size_t>(corner) < m_exact.size()) return m_exact[static_cast<std::size_t>(corner)];
  std::vector<double> values = m_start;
  for (std::size_t k = 0; k < coefficients.size(); ++k)
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double step = coefficients[k] * m_directions[k][i];
      values[i] += step;
    }
  return roundedInto(m_dtype, values);
}

bool hasGap(const TensorView& a, const TensorView& b) {
  const std::vector<double> x = doublesOf(a), y = doublesOf(b);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(std::isfinite(x[i]) && std::isfinite(y[i])) && !isSame(x[i], y[i])) return true;
  return false;
}

bool sameElements(const TensorView& a, const TensorView& b) { return packed(a) == packed(b); }

}  // namespace ulpscope::analysis
