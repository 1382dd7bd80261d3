#include "core/analysis/worst_elements.h"

#include "core/analysis/divergence_scalar.h"
#include "core/base/float_formats.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace ulpscope::analysis {
namespace {

// Values of float32 or less take the fast way; both round once.
std::int64_t ulpsBetween(base::DType low, double a, double b) {
  const auto x = static_cast<float>(a), y = static_cast<float>(b);
  if (x != a || y != b) return base::ulpDistance(low, a, b);
  const bool isHalf = low == base::DType::float16;
  return std::abs(static_cast<std::int64_t>(ordered(x, isHalf)) - ordered(y, isHalf));
}

// The `most` largest, kept as a heap whose front is the least of them.
class Largest {
 public:
  explicit Largest(std::size_t most) : m_most(most) {}
  bool wants(double size) const { return m_most > 0 && (m_kept.size() < m_most || size > m_kept.front().size); }
  void add(double size, const WorstElement& element) {
    if (m_kept.size() == m_most) {
      std::pop_heap(m_kept.begin(), m_kept.end(), isBefore);
      m_kept.pop_back();
    }
    m_kept.push_back({size, element});
    std::push_heap(m_kept.begin(), m_kept.end(), isBefore);
  }
  void appendTo(std::vector<WorstElement>& elements) {
    std::sort(m_kept.begin(), m_kept.end(), isBefore);
    for (std::size_t i = 0; i < m_kept.size() && elements.size() < m_most; ++i) elements.push_back(m_kept[i].element);
  }

 private:
  struct Kept {
    double size;
    WorstElement element;
  };
  static bool isBefore(const Kept& a, const Kept& b) { return a.size != b.size ? a.size > b.size : a.element.element < b.element.element; }

  std::size_t m_most;
  std::vector<Kept> m_kept;
};

}  // namespace

WorstElements worstElements(const ReferenceView& reference, const CandidateView& candidate, const WorstOrder& order) {
  WorstElements worst;
  worst.maxDifference = std::numeric_limits<double>::quiet_NaN();
  const bool hasUlps = base::isFloating(reference.value.dtype) && base::isFloating(candidate.value.dtype);
  Largest largest(order.most);
  const auto ulpsOf = [&](const ElementPair& p) { return hasUlps && std::isfinite(p.reference) && std::isfinite(p.candidate) ? ulpsBetween(order.low, p.reference, p.candidate) : -1; };
  forEachPair(reference, candidate, [&](std::int64_t element, const ElementPair& pair) {
    if (!std::isfinite(pair.reference) || !std::isfinite(pair.candidate)) {
      if (!isNonfiniteInOne(pair)) return;
      ++worst.differing;
      if (worst.nonfiniteInOne++ < static_cast<std::int64_t>(order.most)) worst.elements.push_back({element, pair, ulpsOf(pair), true});
      return;
    }
    const double size = std::fabs(pair.difference);
    if (!(size <= worst.maxDifference)) worst.maxDifference = size;
    if (size == 0) return;
    ++worst.differing;
    if (order.by == WorstBy::difference) {
      if (largest.wants(size)) largest.add(size, {element, pair, ulpsOf(pair), false});
      return;
    }
    const std::int64_t ulps = ulpsOf(pair);
    if (ulps > 0 && largest.wants(static_cast<double>(ulps))) largest.add(static_cast<double>(ulps), {element, pair, ulps, false});
  });
  largest.appendTo(worst.elements);
  return worst;
}

}  // namespace ulpscope::analysis
