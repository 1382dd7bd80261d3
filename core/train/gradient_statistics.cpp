#include "core/train/gradient_statistics.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace ulpscope::train {
namespace {

// Lanes add up by themselves, so that the compiler may use vectors without changing a sum's meaning.
constexpr std::int64_t kLanes = 8;

template <typename T>
GradientStatistics walk(const T* values, std::int64_t count, T tiny) {
  std::array<double, kLanes> squares{};
  std::array<std::int32_t, kLanes> zeros{}, small{}, nonfinite{}, nan{};
  GradientStatistics s;
  s.elements = count;
  // Pieces keep the 32-bit counters from running over.
  for (std::int64_t first = 0; first < count; first += std::int64_t{1} << 30) {
    const std::int64_t end = std::min(count, first + (std::int64_t{1} << 30)), whole = first + (end - first) / kLanes * kLanes;
    const auto add = [&](std::int64_t i, std::size_t lane) {
      const T magnitude = std::abs(values[i]);
      zeros[lane] += magnitude == 0;
      small[lane] += magnitude < tiny;
      nonfinite[lane] += !(magnitude <= std::numeric_limits<T>::max());
      nan[lane] += magnitude != magnitude;
      squares[lane] += static_cast<double>(magnitude) * static_cast<double>(magnitude);
    };
    for (std::int64_t i = first; i < whole; i += kLanes)
      for (std::int64_t lane = 0; lane < kLanes; ++lane) add(i + lane, static_cast<std::size_t>(lane));
    for (std::int64_t i = whole; i < end; ++i) add(i, 0);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      s.zeros += std::exchange(zeros[lane], 0);
      s.subnormals += std::exchange(small[lane], 0);
      s.nonfinite += std::exchange(nonfinite[lane], 0);
      s.hasNan = s.hasNan || std::exchange(nan[lane], 0) > 0;
    }
  }
  for (const double lane : squares) s.squares += lane;
  s.subnormals -= s.zeros;
  return s;
}

// float32 or float64, contiguous; 16-bit formats lie in float32 exactly.
at::Tensor plain(const at::Tensor& tensor) {
  const at::Tensor elements = tensor.is_sparse() ? tensor._values() : tensor;
  return elements.detach().to(elements.scalar_type() == at::kDouble ? at::kDouble : at::kFloat).contiguous();
}

template <typename T>
double distance(const T* after, const T* before, std::int64_t count) {
  std::array<double, kLanes> squares{};
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const double d = static_cast<double>(after[i + lane]) - static_cast<double>(before[i + lane]);
      squares[static_cast<std::size_t>(lane)] += d * d;
    }
  for (std::int64_t i = whole; i < count; ++i) squares[0] += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
  double sum = 0;
  for (const double lane : squares) sum += lane;
  return sum;
}

}  // namespace

GradientStatistics& GradientStatistics::operator+=(const GradientStatistics& other) {
  elements += other.elements;
  zeros += other.zeros;
  subnormals += other.subnormals;
  nonfinite += other.nonfinite;
  squares += other.squares;
  hasNan = hasNan || other.hasNan;
  return *this;
}

GradientStatistics statisticsOf(const at::Tensor& gradient, double tiny) {
  const at::Tensor values = plain(gradient);
  if (values.scalar_type() == at::kDouble) return walk(values.data_ptr<double>(), values.numel(), tiny);
  return walk(values.data_ptr<float>(), values.numel(), static_cast<float>(tiny));
}

double squaredDistance(const at::Tensor& after, const at::Tensor& before) {
  const at::Tensor a = plain(after), b = plain(before);
  if (a.scalar_type() == at::kDouble) return distance(a.data_ptr<double>(), b.data_ptr<double>(), a.numel());
  return distance(a.data_ptr<float>(), b.data_ptr<float>(), a.numel());
}

bool allFinite(const at::Tensor& tensor) { return !tensor.is_floating_point() || statisticsOf(tensor, 0).nonfinite == 0; }

}  // namespace ulpscope::train
