// The kernel over vectors of an instruction set V, included by the file that defines V. Private to core/analysis; everything
// has internal linkage, for the reason given in divergence_kernel.h.
//
// Sums are taken element by element. What is rare, and what divergence_filter.h leaves open, is done apart from the loop.
#pragma once

#include "core/analysis/divergence_filter.h"

namespace ulpscope::analysis {
namespace {

template <class V>
struct Lanes {
  static constexpr int kParts = kLanes / V::kDoubles;
  typename V::D abs[kParts], difference[kParts], reference[kParts], candidate[kParts];

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
  typename V::K bits;  // b as it was, where it has 16 bits
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
    v.bits = bits;
  }
  return v;
}

// kLow16: the low format is float16.
template <class V, ElementFormat B, bool kLow16, bool kUlp>
class Kernel {
  static constexpr int kParts = kLanes / V::kFloats;
  using F = typename V::F;
  using D = typename V::D;
  using K = typename V::K;
  using Mask = typename V::Mask;
  static constexpr bool k16 = B != ElementFormat::float32;
  // The state lies outside: an object whose address leaves the loop would keep the lanes below out of registers.
  const PairParameters& m_p;
  PairState& m_s;
  Lanes<V> m_lanes;
  F m_minA, m_maxA, m_minB, m_maxB;
  F m_abs, m_rel;
  typename V::I m_smallA, m_smallB;
  K m_minKey, m_maxKey, m_limitB;  // instead of the above for b, where it has 16 bits
  F m_tiny, m_atolBelow, m_rtolBelow, m_atolAbove, m_rtolAbove;
  typename V::K m_ulp;
  std::int64_t m_over = 0, m_differing = 0;

  [[gnu::always_inline]] inline void setFilter() {
    const Filter f = filterOf(m_s, m_p);
    m_abs = V::set(f.abs);
    m_rel = V::set(f.rel);
    m_smallA = V::setBits(f.small[0]);
    m_smallB = V::setBits(f.small[1]);
    if constexpr (k16) m_limitB = V::setLimit(limit16(f.small[1] + 1, B == ElementFormat::float16));
  }

  // Only the vector's largest can be a new maximum.
  [[gnu::always_inline]] inline void raiseMaxima(F magnitude, D low, D high) {
    const F divisor = V::max(magnitude, m_tiny);
    m_s.maxRel = maxOf(m_s.maxRel, V::largest(V::maxD(V::div(low, V::low(divisor)), V::div(high, V::high(divisor)))));
    m_s.maxAbs = maxOf(m_s.maxAbs, V::largest(V::maxD(low, high)));
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
    m_lanes.difference[part] = V::addSquare(m_lanes.difference[part], difference);
    m_lanes.reference[part] = V::addSquare(m_lanes.reference[part], a);
    m_lanes.candidate[part] = V::addSquare(m_lanes.candidate[part], b);
  }

  [[gnu::always_inline]] inline void addRange(const Vector<V>& v, K order) {
    m_minA = V::min(v.a, m_minA);
    m_maxA = V::max(v.a, m_maxA);
    if constexpr (k16) {
      m_minKey = V::minKey(order, m_minKey);
      m_maxKey = V::maxKey(order, m_maxKey);
    } else {
      m_minB = V::min(v.b, m_minB);
      m_maxB = V::max(v.b, m_maxB);
    }
  }

  [[gnu::always_inline]] inline void addUlp(const Vector<V>& v, K order) {
    constexpr bool kRounded = (B == ElementFormat::float16 && kLow16) || (B == ElementFormat::bfloat16 && !kLow16);
    const auto orderOf = [](F x) { return V::ordered(kLow16 ? V::halfKey(x) : V::bfloatKey(x)); };
    m_ulp = V::maxDistance(m_ulp, orderOf(v.a), kRounded ? order : orderOf(v.b));
  }

  // What the comparisons in float32 say of a vector.
  struct Verdict {
    Mask differing, below, small, raised, doubtful;
  };

  [[gnu::always_inline]] inline Verdict judge(const Vector<V>& v) const {
    const F magnitude = V::abs(v.a);
    const F difference = V::abs(V::sub(v.b, v.a));
    Verdict verdict;
    verdict.differing = V::different(v.a, v.b);
    verdict.below = V::greater(verdict.differing, difference, V::fma(m_rtolBelow, magnitude, m_atolBelow));
    const Mask above = V::greater(verdict.differing, difference, V::fma(m_rtolAbove, magnitude, m_atolAbove));
    verdict.doubtful = V::eitherOf(verdict.below, above);
    const F relative = V::fma(V::max(magnitude, m_tiny), m_rel, V::set(-0x1p-149F));
    verdict.raised = V::either(V::greater(verdict.differing, difference, m_abs), V::greater(verdict.differing, difference, relative));
    const Mask smallB = k16 ? V::smallerKey(v.bits, m_limitB) : V::smaller(V::abs(v.b), m_smallB);
    verdict.small = V::either(V::smaller(magnitude, m_smallA), smallB);
    return verdict;
  }

  // True: the vector holds something rare, and addRare must follow.
  [[gnu::always_inline]] inline Mask addVector(const Vector<V>& v, int part) {
    const D aLow = V::low(v.a), aHigh = V::high(v.a), bLow = V::low(v.b), bHigh = V::high(v.b);
    addHalf(aLow, bLow, V::absD(V::subD(bLow, aLow)), part);
    addHalf(aHigh, bHigh, V::absD(V::subD(bHigh, aHigh)), part + 1);
    const K order = V::ordered(v.bits);
    addRange(v, order);
    if constexpr (kUlp) addUlp(v, order);
    const Verdict verdict = judge(v);
    m_differing += V::count(verdict.differing);
    m_over += V::count(verdict.below);
    return V::either(V::either(verdict.small, verdict.raised), verdict.doubtful);
  }

  [[gnu::always_inline]] inline void addRare(const Vector<V>& v) {
    const Verdict verdict = judge(v);
    const D low = V::absD(V::subD(V::low(v.b), V::low(v.a))), high = V::absD(V::subD(V::high(v.b), V::high(v.a)));
    if (V::any(verdict.small)) addSmall(m_s, m_p, v.a, v.b);
    if (V::any(verdict.doubtful)) m_over += countOver(V::abs(v.a), low, high) - V::count(verdict.below);
    if (V::any(verdict.raised)) raiseMaxima(V::abs(v.a), low, high);
    setFilter();
  }

  [[gnu::always_inline]] inline void start() {
    for (int i = 0; i < Lanes<V>::kParts; ++i)
      m_lanes.abs[i] = m_lanes.difference[i] = m_lanes.reference[i] = m_lanes.candidate[i] = V::setD(0);
    m_minA = V::set(m_s.side[0].min);
    m_maxA = V::set(m_s.side[0].max);
    m_minB = V::set(m_s.side[1].min);
    m_maxB = V::set(m_s.side[1].max);
    m_minKey = V::setKey(0x7FFF);
    m_maxKey = V::setKey(-0x8000);
    const ToleranceFilter t = toleranceFilterOf(m_p);
    m_tiny = V::set(m_p.tiny);
    m_atolBelow = V::set(t.atolBelow);
    m_rtolBelow = V::set(t.rtolBelow);
    m_atolAbove = V::set(t.atolAbove);
    m_rtolAbove = V::set(t.rtolAbove);
    m_ulp = V::noDistance();
    setFilter();
  }

  // The extremes of b by their order, back as numbers.
  [[gnu::always_inline]] inline void addKeys() {
    std::int16_t low[V::kFloats], high[V::kFloats];
    V::store(low, m_minKey);
    V::store(high, m_maxKey);
    for (int i = 0; i < V::kFloats; ++i) {
      if (low[i] > high[i]) continue;  // no vector came
      const float least = valueOf16(low[i], B), most = valueOf16(high[i], B);
      if (least < m_s.side[1].min) m_s.side[1].min = least + 0.0F;
      if (most > m_s.side[1].max) m_s.side[1].max = most + 0.0F;
    }
  }

  [[gnu::noinline]] static double productOf(const PairBlock& block) {
    D lanes[Lanes<V>::kParts];
    for (D& lane : lanes) lane = V::setD(0);
    const std::int64_t whole = block.length - block.length % kLanes;
    for (std::int64_t run = 0; run < block.count; ++run)
      for (std::int64_t i = 0; i < whole; i += kLanes)
        for (int part = 0; part < kParts; ++part) {
          const Vector<V> v = load<V, B>(block.a + run * block.aStep, runOf(block, run), i + part * V::kFloats);
          lanes[2 * part] = V::addProduct(lanes[2 * part], V::low(v.a), V::low(v.b));
          lanes[2 * part + 1] = V::addProduct(lanes[2 * part + 1], V::high(v.a), V::high(v.b));
        }
    return Lanes<V>::sum(lanes);
  }

  [[gnu::always_inline]] static inline const void* runOf(const PairBlock& block, std::int64_t run) {
    if constexpr (k16) return static_cast<const std::uint16_t*>(block.b) + run * block.bStep;
    return static_cast<const float*>(block.b) + run * block.bStep;
  }

  [[gnu::always_inline]] inline void finish(const PairBlock& block) {
    PairSums sums{Lanes<V>::sum(m_lanes.abs), Lanes<V>::sum(m_lanes.difference), Lanes<V>::sum(m_lanes.reference), Lanes<V>::sum(m_lanes.candidate), 0};
    sums.product = productFollows(sums) ? followingProduct(sums) : productOf(block);
    addSums(m_s, sums);
    m_s.side[0].min = V::smallestF(m_minA) + 0.0F;
    m_s.side[0].max = V::largestF(m_maxA) + 0.0F;
    m_s.side[1].min = V::smallestF(m_minB) + 0.0F;
    m_s.side[1].max = V::largestF(m_maxB) + 0.0F;
    if constexpr (k16) addKeys();
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

  // Adds up to and with the first 16 that hold something rare, and returns where those stand; `whole`: none did. The rare work
  // stays out of this loop, or it would take its registers.
  [[gnu::always_inline]] inline std::int64_t addCommon(const float* a, const void* b, std::int64_t i, std::int64_t whole, std::int64_t ahead, std::int64_t near) {
    constexpr int kLocality = 2;  // into the second-level cache
    constexpr std::int64_t kBytes = B == ElementFormat::float32 ? 4 : 2;
    for (; i < whole; i += kLanes) {
      __builtin_prefetch(a + i + near, 0, 3);
      __builtin_prefetch(static_cast<const char*>(b) + (i + near) * kBytes, 0, 3);
      __builtin_prefetch(a + i + ahead, 0, kLocality);
      __builtin_prefetch(static_cast<const char*>(b) + (i + ahead) * kBytes, 0, kLocality);
      Mask rare = addVector(load<V, B>(a, b, i), 0);
      if constexpr (kParts == 2) rare = V::either(rare, addVector(load<V, B>(a, b, i + V::kFloats), 2));
      if (__builtin_expect(V::any(rare), 0)) return i;
    }
    return whole;
  }

 public:
  [[gnu::always_inline]] inline Kernel(const PairParameters& p, PairState& state) : m_p(p), m_s(state) { start(); }

  [[gnu::always_inline]] inline bool add(const PairBlock& block) {
    const std::int64_t whole = block.length - block.length % kLanes;
    for (std::int64_t run = 0; run < block.count; ++run) {
      const float* a = block.a + run * block.aStep;
      const void* b = runOf(block, run);
      for (std::int64_t i = 0; i < whole; i += kLanes) {
        i = addCommon(a, b, i, whole, block.ahead, block.count > 1 ? block.aStep : block.ahead);
        if (i == whole) break;
        for (int part = 0; part < kParts; ++part) addRare(load<V, B>(a, b, i + part * V::kFloats));
      }
    }
    finish(block);
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
