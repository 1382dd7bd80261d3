// The kernel over vectors of an instruction set V, included by the file that defines V. Private to core/analysis; everything
// has internal linkage, for the reason given in divergence_kernel.h.
//
// Sums are taken element by element. The maxima and the tolerance are decided by a float32 comparison where that is certain, and
// in double where it is not: with |b-a| <= 2^127, the float32 difference is within a factor 1 +- 2^-24 of the exact one (below
// 2^-126 it is exact), so a threshold moved by 2^-21 and by 2^-148 on the safe side never hides an element.
#pragma once

#include "core/analysis/divergence_scalar.h"

namespace ulpscope::analysis {
namespace {

constexpr double kMargin = 0x1p-20;
constexpr double kStep = 0x1p-148;

// Largest float <= x, for finite x; beyond float32 the largest finite.
inline float floatBelow(double x) {
  if (x >= 0x1.fffffep127) return 0x1.fffffep127F;
  const float f = static_cast<float>(x);
  if (f <= x) return f;
  return f > 0 ? floatOf(bitsOf(f) - 1) : f == 0 ? -0x1p-149F : floatOf(bitsOf(f) + 1);
}
inline float floatAbove(double x) { return -floatBelow(-x); }

struct Filter {
  float abs, rel;             // thresholds of the running maxima
  std::uint32_t small[2];     // magnitude - 1 below it: a new smallest, subnormal or rounded to zero
};

inline Filter filterOf(const PairState& s, const PairParameters& p) {
  Filter f;
  f.abs = floatBelow(s.maxAbs * (1 - kMargin));
  f.rel = floatBelow(s.maxRel * (1 - kMargin));
  for (int i = 0; i < 2; ++i) {
    const std::uint32_t smallest = s.side[i].smallest;
    f.small[i] = (smallest > p.roundsToNormal ? smallest : p.roundsToNormal) - 1;
  }
  return f;
}

struct ToleranceFilter {
  float atolBelow, rtolBelow, atolAbove, rtolAbove;
};

inline ToleranceFilter toleranceFilterOf(const PairParameters& p) {
  return {floatBelow(p.atol * (1 - kMargin) - kStep), floatBelow(p.rtol * (1 - kMargin)), floatAbove(p.atol * (1 + kMargin) + kStep),
          floatAbove(p.rtol * (1 + kMargin))};
}

template <class V>
struct Lanes {
  static constexpr int kParts = kLanes / V::kDoubles;
  typename V::D abs[kParts], difference[kParts], reference[kParts], candidate[kParts], product[kParts];

  static double sum(const typename V::D* parts) {
    double lanes[kLanes];
    for (int i = 0; i < kParts; ++i) V::store(lanes + i * V::kDoubles, parts[i]);
    return sumOfLanes(lanes);
  }
};

// One vector of pairs.
template <class V>
struct Vector {
  typename V::F a, b;
  typename V::K key;  // of b, if it is in the low format
};

template <class V, ElementFormat B>
inline Vector<V> load(const float* a, const void* b, std::int64_t at) {
  Vector<V> v{};
  v.a = V::load(a + at);
  if constexpr (B == ElementFormat::float32) {
    v.b = V::load(static_cast<const float*>(b) + at);
  } else {
    const typename V::K bits = V::loadBits(static_cast<const std::uint16_t*>(b) + at);
    v.b = B == ElementFormat::float16 ? V::fromHalf(bits) : V::fromBfloat(bits);
    v.key = bits;
  }
  return v;
}

// kLow16: the low format is float16.
template <class V, ElementFormat B, bool kLow16, bool kUlp>
class Kernel {
  using F = typename V::F;
  using D = typename V::D;
  // The state lies outside: an object whose address leaves the loop would keep the lanes below out of registers.
  const PairParameters& m_p;
  PairState& m_s;
  Lanes<V> m_lanes;
  F m_min[2], m_max[2];
  F m_abs, m_rel;
  typename V::I m_small[2];
  F m_tiny, m_atolBelow, m_rtolBelow, m_atolAbove, m_rtolAbove;
  typename V::K m_ulp;
  std::int64_t m_over = 0, m_differing = 0;

  [[gnu::always_inline]] inline void setFilter() {
    const Filter f = filterOf(m_s, m_p);
    m_abs = V::set(f.abs);
    m_rel = V::set(f.rel);
    for (int i = 0; i < 2; ++i) m_small[i] = V::setBits(f.small[i]);
  }

  // Only the vector's largest can be a new maximum.
  [[gnu::always_inline]] inline void raiseMaxima(F magnitude, D low, D high) {
    const F divisor = V::max(magnitude, m_tiny);
    m_s.maxRel = maxOf(m_s.maxRel, V::largest(V::maxD(V::div(low, V::low(divisor)), V::div(high, V::high(divisor)))));
    m_s.maxAbs = maxOf(m_s.maxAbs, V::largest(V::maxD(low, high)));
    setFilter();
  }

  [[gnu::noinline, gnu::cold]] static void addSmall(PairState& s, const PairParameters& p, F a, F b) {
    float x[V::kFloats], y[V::kFloats];
    V::store(x, a);
    V::store(y, b);
    for (int i = 0; i < V::kFloats; ++i) {
      const std::uint32_t ma = bitsOf(x[i]) & 0x7FFFFFFFU, mb = bitsOf(y[i]) & 0x7FFFFFFFU;
      s.side[0].smallest = ma - 1 < s.side[0].smallest - 1 ? ma : s.side[0].smallest;
      s.side[1].smallest = mb - 1 < s.side[1].smallest - 1 ? mb : s.side[1].smallest;
      s.side[0].subnormal += ma > p.roundsToZero && ma < p.roundsToNormal;
      s.side[1].subnormal += mb > p.roundsToZero && mb < p.roundsToNormal;
      s.flushed += mb == 0 && ma != 0 && ma <= p.roundsToZero;
    }
  }

  [[gnu::always_inline]] inline std::int64_t countOver(F magnitude, D low, D high) const {
    const D atol = V::setD(m_p.atol), rtol = V::setD(m_p.rtol);
    return __builtin_popcount(V::greaterD(low, V::addD(atol, V::mul(rtol, V::low(magnitude))))) +
           __builtin_popcount(V::greaterD(high, V::addD(atol, V::mul(rtol, V::high(magnitude)))));
  }

  [[gnu::always_inline]] inline void addHalf(D a, D b, D difference, int part) {
    m_lanes.abs[part] = V::addD(m_lanes.abs[part], difference);
    m_lanes.difference[part] = V::addD(m_lanes.difference[part], V::mul(difference, difference));
    m_lanes.reference[part] = V::addProduct(m_lanes.reference[part], a, a);
    m_lanes.candidate[part] = V::addProduct(m_lanes.candidate[part], b, b);
    m_lanes.product[part] = V::addProduct(m_lanes.product[part], a, b);
  }

  [[gnu::always_inline]] inline void addRange(F a, F b, F magnitude, F other) {
    m_min[0] = V::min(a, m_min[0]);
    m_max[0] = V::max(a, m_max[0]);
    m_min[1] = V::min(b, m_min[1]);
    m_max[1] = V::max(b, m_max[1]);
    if (__builtin_expect(V::anySmaller(magnitude, m_small[0], other, m_small[1]), 0)) {
      addSmall(m_s, m_p, a, b);
      setFilter();
    }
  }

  [[gnu::always_inline]] inline void addUlp(const Vector<V>& v) {
    constexpr bool kRounded = (B == ElementFormat::float16 && kLow16) || (B == ElementFormat::bfloat16 && !kLow16);
    const auto key = [](F x) { return kLow16 ? V::halfKey(x) : V::bfloatKey(x); };
    m_ulp = V::maxDistance(m_ulp, key(v.a), kRounded ? v.key : key(v.b));
  }

  [[gnu::always_inline]] inline void addVector(const Vector<V>& v, int part) {
    const F magnitude = V::abs(v.a);
    const F difference = V::abs(V::sub(v.b, v.a));
    const D aLow = V::low(v.a), aHigh = V::high(v.a), bLow = V::low(v.b), bHigh = V::high(v.b);
    const D low = V::absD(V::subD(bLow, aLow)), high = V::absD(V::subD(bHigh, aHigh));
    addHalf(aLow, bLow, low, part);
    addHalf(aHigh, bHigh, high, part + 1);
    addRange(v.a, v.b, magnitude, V::abs(v.b));
    if constexpr (kUlp) addUlp(v);
    const unsigned differing = V::different(v.a, v.b);
    m_differing += __builtin_popcount(differing);
    const unsigned below = differing & V::greater(difference, V::fma(m_rtolBelow, magnitude, m_atolBelow));
    const unsigned above = differing & V::greater(difference, V::fma(m_rtolAbove, magnitude, m_atolAbove));
    m_over += __builtin_expect(below == above, 1) ? __builtin_popcount(below) : countOver(magnitude, low, high);
    const F relative = V::fma(V::max(magnitude, m_tiny), m_rel, V::set(-0x1p-149F));
    const unsigned raised = V::greater(difference, m_abs) | V::greater(difference, relative);
    if (__builtin_expect(differing & raised, 0)) raiseMaxima(magnitude, low, high);
  }

  [[gnu::always_inline]] inline void start() {
    for (int i = 0; i < Lanes<V>::kParts; ++i)
      m_lanes.abs[i] = m_lanes.difference[i] = m_lanes.reference[i] = m_lanes.candidate[i] = m_lanes.product[i] = V::setD(0);
    for (int i = 0; i < 2; ++i) {
      m_min[i] = V::set(m_s.side[i].min);
      m_max[i] = V::set(m_s.side[i].max);
    }
    const ToleranceFilter t = toleranceFilterOf(m_p);
    m_tiny = V::set(m_p.tiny);
    m_atolBelow = V::set(t.atolBelow);
    m_rtolBelow = V::set(t.rtolBelow);
    m_atolAbove = V::set(t.atolAbove);
    m_rtolAbove = V::set(t.rtolAbove);
    m_ulp = V::noDistance();
    setFilter();
  }

  [[gnu::always_inline]] inline void finish() {
    addSums(m_s, {Lanes<V>::sum(m_lanes.abs), Lanes<V>::sum(m_lanes.difference), Lanes<V>::sum(m_lanes.reference),
                  Lanes<V>::sum(m_lanes.candidate), Lanes<V>::sum(m_lanes.product)});
    for (int i = 0; i < 2; ++i) {
      m_s.side[i].min = V::smallestF(m_min[i]) + 0.0F;
      m_s.side[i].max = V::largestF(m_max[i]) + 0.0F;
    }
    m_s.overTolerance += m_over;
    m_s.differing += m_differing;
    const std::int32_t distance = V::largestDistance(m_ulp);
    if (distance > m_s.maxUlp) m_s.maxUlp = distance;
  }

  [[gnu::always_inline]] inline void addRest(const PairBlock& block, std::int64_t first) {
    float buffer[kLanes];
    const auto* b = static_cast<const float*>(block.b) + first;
    if constexpr (B != ElementFormat::float32) {
      widenPortably(static_cast<const std::uint16_t*>(block.b) + first, B, buffer, block.length - first);
      b = buffer;
    }
    addTail(m_s, m_p, block.a + first, b, block.length - first);
  }

  [[gnu::always_inline]] inline bool withinFilters() const {
    const double sums = m_s.sumSquaredReference + m_s.sumSquaredCandidate;
    bool within = sums - sums == 0;  // false for infinity and NaN
    for (const PairSide& side : m_s.side) within = within && !(side.max > 0x1p126F) && !(side.min < -0x1p126F);
    return within;
  }

 public:
  [[gnu::always_inline]] inline Kernel(const PairParameters& p, PairState& state) : m_p(p), m_s(state) { start(); }

  [[gnu::always_inline]] inline bool add(const PairBlock& block) {
    const std::int64_t whole = block.length - block.length % kLanes;
    for (std::int64_t run = 0; run < block.count; ++run) {
      const float* a = block.a + run * block.aStep;
      const void* b = B == ElementFormat::float32 ? static_cast<const void*>(static_cast<const float*>(block.b) + run * block.bStep)
                                                  : static_cast<const void*>(static_cast<const std::uint16_t*>(block.b) + run * block.bStep);
      for (std::int64_t i = 0; i < whole; i += kLanes)
#pragma GCC unroll 2
        for (int part = 0; part < kLanes / V::kFloats; ++part) addVector(load<V, B>(a, b, i + part * V::kFloats), 2 * part);
    }
    finish();
    if (whole < block.length) addRest(block, whole);
    return withinFilters();
  }
};

template <class V, ElementFormat B, bool kLow16, bool kUlp>
bool addBlock(const PairBlock& block, const PairParameters& p, PairState& state) {
  PairState added = state;
  if (!Kernel<V, B, kLow16, kUlp>(p, added).add(block)) return false;
  state = added;
  return true;
}

template <class V, ElementFormat B>
bool addFormat(const PairBlock& block, const PairParameters& p, PairState& state) {
  if (p.ulp) return p.low16 ? addBlock<V, B, true, true>(block, p, state) : addBlock<V, B, false, true>(block, p, state);
  return addBlock<V, B, true, false>(block, p, state);  // without ULP the low format is in the parameters alone
}

template <class V>
bool addWith(const PairBlock& block, const PairParameters& p, PairState& state) {
  switch (block.bFormat) {
    case ElementFormat::float32: return addFormat<V, ElementFormat::float32>(block, p, state);
    case ElementFormat::float16: return addFormat<V, ElementFormat::float16>(block, p, state);
    case ElementFormat::bfloat16: return addFormat<V, ElementFormat::bfloat16>(block, p, state);
  }
  return false;
}

template <class V>
void widenWith(const void* from, ElementFormat format, float* to, std::int64_t count) {
  const auto* bits = static_cast<const std::uint16_t*>(from);
  const std::int64_t whole = count - count % V::kFloats;
  if (format == ElementFormat::float16)
    for (std::int64_t i = 0; i < whole; i += V::kFloats) V::store(to + i, V::fromHalf(V::loadBits(bits + i)));
  else
    for (std::int64_t i = 0; i < whole; i += V::kFloats) V::store(to + i, V::fromBfloat(V::loadBits(bits + i)));
  widenPortably(bits + whole, format, to + whole, count - whole);
}

}  // namespace
}  // namespace ulpscope::analysis
