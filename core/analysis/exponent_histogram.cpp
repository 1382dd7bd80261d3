#include "core/analysis/exponent_histogram.h"

#include "core/analysis/element_pairs.h"

#include <bit>
#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

constexpr int kLowest = -1074;   // of the smallest subnormal double
constexpr int kHighest = 1023;
constexpr int kBias = 1023;

}  // namespace

std::int64_t ExponentHistogram::at(int exponent) const {
  const int i = exponent - firstExponent;
  return i < 0 || i >= static_cast<int>(counts.size()) ? 0 : counts[static_cast<std::size_t>(i)];
}

double typicalMagnitude(const ExponentHistogram& histogram) {
  std::int64_t counted = 0, passed = 0;
  for (const std::int64_t n : histogram.counts) counted += n;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    passed += histogram.counts[i];
    if (2 * passed >= counted) return std::ldexp(1.0, histogram.firstExponent + static_cast<int>(i));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

ExponentHistogram exponentHistogram(const TensorView& view) {
  ExponentHistogram histogram;
  histogram.elements = view.elementCount();
  std::vector<std::int64_t> all(kHighest - kLowest + 1, 0);
  std::array<double, kPairChunk> chunk;
  for (std::int64_t first = 0; first < histogram.elements; first += kPairChunk) {
    const std::int64_t count = std::min(kPairChunk, histogram.elements - first);
    widenElements(view, first, count, chunk.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const double x = chunk[i];
      const int field = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7FF);
      if (field == 0x7FF)
        ++(std::isnan(x) ? histogram.nan : histogram.infinite);
      else if (x == 0)
        ++histogram.zeros;
      else
        ++all[static_cast<std::size_t>((field == 0 ? std::ilogb(x) : field - kBias) - kLowest)];
    }
  }
  const auto isUsed = [](std::int64_t n) { return n > 0; };
  const auto begin = std::find_if(all.begin(), all.end(), isUsed);
  if (begin == all.end()) return histogram;
  const auto end = std::find_if(all.rbegin(), all.rend(), isUsed).base();
  histogram.firstExponent = kLowest + static_cast<int>(begin - all.begin());
  histogram.counts.assign(begin, end);
  return histogram;
}

}  // namespace ulpscope::analysis
