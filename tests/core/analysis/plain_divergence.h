// The definitions of divergence.h as a plain loop over doubles. Uses nothing of core/analysis; rounding into the low formats comes
// from core/base, which is tested against c10.
#pragma once

#include "random_tensors.h"

namespace ulpscope::analysis {

// The definitions of divergence.h, written down once more.
struct Naive {
  std::int64_t elements = 0, pairs = 0, over = 0, differing = 0, ulp = 0, flushed = 0, subnormalA = 0, subnormalB = 0;
  std::int64_t candidateOnly[3] = {}, candidate[3] = {}, reference[3] = {};
  double maxAbs = 0, maxRel = 0, maxA = 0, maxB = 0;
  double least[2] = {kInf, kInf}, most[2] = {-kInf, -kInf}, smallest[2] = {kInf, kInf};
  long double abs = 0, dd = 0, aa = 0, bb = 0, ab = 0;

  static int kindOf(double x) { return std::isnan(x) ? 0 : x > 0 ? 1 : 2; }

  void side(int i, double x, DType low, double& maximum, std::int64_t& subnormal) {
    if (!std::isfinite(x)) return;
    least[i] = std::min(least[i], x);
    most[i] = std::max(most[i], x);
    maximum = std::max(maximum, std::fabs(x));
    if (x != 0) smallest[i] = std::min(smallest[i], std::fabs(x));
    const double rounded = std::fabs(base::roundTo(low, x));
    subnormal += rounded > 0 && rounded < base::limits(low).minNormal;
  }

  void add(double a, double b, const CompareOptions& o) {
    ++elements;
    side(0, a, o.low, maxA, subnormalA);
    side(1, b, o.low, maxB, subnormalB);
    const bool finiteA = std::isfinite(a), finiteB = std::isfinite(b);
    if (!finiteA) ++reference[kindOf(a)];
    if (!finiteB) ++candidate[kindOf(b)];
    if (!finiteA || !finiteB) {
      const bool same = !finiteA && !finiteB && kindOf(a) == kindOf(b);
      if (!finiteB && !same) ++candidateOnly[kindOf(b)];
      over += !same;
      differing += !same;
      return;
    }
    ++pairs;
    const double d = std::fabs(b - a);
    maxAbs = std::max(maxAbs, d);
    maxRel = std::max(maxRel, d / std::max(std::fabs(a), base::limits(o.low).minNormal));
    over += d > o.tolerance.atol + o.tolerance.rtol * std::fabs(a);
    differing += a != b;
    if (o.ulp) ulp = std::max(ulp, base::ulpDistance(o.low, a, b));
    flushed += b == 0 && a != 0 && base::roundTo(o.low, a) == 0;
    abs += d;
    dd += static_cast<long double>(d) * d;
    aa += static_cast<long double>(a) * a;
    bb += static_cast<long double>(b) * b;
    ab += static_cast<long double>(a) * b;
  }
};

inline void expectClose(long double actual, long double expected, const char* what) {
  if (actual == expected) return;
  EXPECT_LE(std::fabs(actual - expected), 1e-13L * std::fabs(expected)) << what;
}

inline void expectRange(const SideRange& r, double least, double most, double smallest) {
  if (least > most) {
    EXPECT_TRUE(std::isnan(r.min) && std::isnan(r.max) && std::isnan(r.smallestNonZero));
    return;
  }
  EXPECT_EQ(r.min, least);
  EXPECT_EQ(r.max, most);
  EXPECT_FALSE(r.min == 0 && std::signbit(r.min)) << "a zero is +0";
  if (smallest == kInf)
    EXPECT_TRUE(std::isnan(r.smallestNonZero));
  else
    EXPECT_EQ(r.smallestNonZero, smallest);
}

inline void expectCounts(const session::NonfiniteCounts& c, const std::int64_t (&expected)[3]) {
  EXPECT_EQ(c.nan, expected[0]);
  EXPECT_EQ(c.plusInf, expected[1]);
  EXPECT_EQ(c.minusInf, expected[2]);
}

inline void expectSame(const SampleDivergence& d, const Naive& n) {
  EXPECT_EQ(d.elements, n.elements);
  EXPECT_EQ(d.finitePairs, n.pairs);
  EXPECT_EQ(d.maxAbs, n.maxAbs);
  EXPECT_EQ(d.maxRel, n.maxRel);
  EXPECT_EQ(d.referenceMaxAbs, n.maxA);
  EXPECT_EQ(d.candidateMaxAbs, n.maxB);
  EXPECT_EQ(d.overTolerance, n.over);
  EXPECT_EQ(d.differing, n.differing);
  EXPECT_EQ(d.maxUlp, n.ulp);
  EXPECT_EQ(d.flushedToZero, n.flushed);
  EXPECT_EQ(d.referenceRange.subnormal, n.subnormalA);
  EXPECT_EQ(d.candidateRange.subnormal, n.subnormalB);
  expectRange(d.referenceRange, n.least[0], n.most[0], n.smallest[0]);
  expectRange(d.candidateRange, n.least[1], n.most[1], n.smallest[1]);
  expectCounts(d.candidateOnly, n.candidateOnly);
  expectCounts(d.candidate, n.candidate);
  expectCounts(d.reference, n.reference);
  expectClose(d.sumAbs, n.abs, "sum |d|");
  expectClose(d.sumSquaredDifference, n.dd, "sum d^2");
  expectClose(d.sumSquaredReference, n.aa, "sum a^2");
  expectClose(d.sumSquaredCandidate, n.bb, "sum b^2");
  if (n.aa > 0 && n.bb > 0) {
    EXPECT_NEAR(d.cosineDistance(), static_cast<double>(1 - n.ab / (std::sqrt(n.aa) * std::sqrt(n.bb))), 1e-13);
  }
}

// NaN by its bits too.
inline auto bitsOf(const SampleDivergence& d) {
  const auto b = [](long double x) { return std::bit_cast<std::uint64_t>(static_cast<double>(x)); };
  const auto r = [&](const SideRange& s) { return std::vector<std::uint64_t>{b(s.min), b(s.max), b(s.smallestNonZero), static_cast<std::uint64_t>(s.subnormal)}; };
  return std::make_tuple(d.elements, d.finitePairs, b(d.maxAbs), b(d.maxRel), b(d.sumAbs), b(d.sumSquaredDifference), b(d.sumSquaredReference),
                         b(d.sumSquaredCandidate), b(d.sumProduct), b(d.referenceMaxAbs), b(d.candidateMaxAbs), r(d.referenceRange), r(d.candidateRange), d.flushedToZero,
                         d.overTolerance, d.differing, d.maxUlp, d.candidateOnly.total(), d.candidate.total(), d.reference.total());
}

inline std::vector<SampleDivergence> on(InstructionSet set, const TensorView& a, const TensorView& b, const SampleLayout& layout, const CompareOptions& options) {
  return compareTensorsWith(set, base::Reference(a), base::Candidate(b), layout, options);
}

}  // namespace ulpscope::analysis
