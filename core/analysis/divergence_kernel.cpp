#include "core/analysis/divergence_kernel.h"

#include "core/analysis/divergence_scalar.h"
#include "core/base/error.h"
#include "core/base/float_formats.h"

#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

struct PortableLanes {
  double abs[kLanes] = {}, difference[kLanes] = {}, reference[kLanes] = {}, candidate[kLanes] = {}, product[kLanes] = {};

  PairSums sum() const {
    PairSums sums{sumOfLanes(abs), sumOfLanes(difference), sumOfLanes(reference), sumOfLanes(candidate), sumOfLanes(product)};
    if (productFollows(sums)) sums.product = followingProduct(sums);  // as the vector kernels do, who save the lanes
    return sums;
  }
};

void addGroup(PortableLanes& lanes, PairState& s, const PairParameters& p, const float* a, const float* b) {
  for (int l = 0; l < kLanes; ++l) {
    PairSums sums{lanes.abs[l], lanes.difference[l], lanes.reference[l], lanes.candidate[l], lanes.product[l]};
    addPair(s, sums, p, a[l], b[l]);
    lanes.abs[l] = sums.abs;
    lanes.difference[l] = sums.difference;
    lanes.reference[l] = sums.reference;
    lanes.candidate[l] = sums.candidate;
    lanes.product[l] = sums.product;
  }
}

const float* widened(const PairBlock& block, std::int64_t at, std::int64_t count, float* buffer) {
  if (block.bFormat == ElementFormat::float32) return static_cast<const float*>(block.b) + at;
  widenPortably(static_cast<const std::uint16_t*>(block.b) + at, block.bFormat, buffer, count);
  return buffer;
}

bool addPortably(const PairBlock& block, const PairParameters& p, PairState& state) {
  PairState s = state;
  PortableLanes lanes;
  float buffer[kLanes];
  const std::int64_t whole = block.length - block.length % kLanes;
  for (std::int64_t run = 0; run < block.count; ++run)
    for (std::int64_t i = 0; i < whole; i += kLanes)
      addGroup(lanes, s, p, block.a + run * block.aStep + i, widened(block, run * block.bStep + i, kLanes, buffer));
  addSums(s, lanes.sum());
  if (whole < block.length) addTail(s, p, block.a + whole, widened(block, whole, block.length - whole, buffer), block.length - whole);
  // An infinity or NaN anywhere makes a sum of squares infinite or NaN; squares of finite floats stay far below.
  if (!std::isfinite(s.sumSquaredReference) || !std::isfinite(s.sumSquaredCandidate)) return false;
  state = s;
  return true;
}

float widenHalf(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7FFFU;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  if (magnitude >= 0x7C00U) return floatOf(sign | 0x7F800000U | ((magnitude & 0x3FFU) << 13));
  // The exponent field moves from bias 15 to bias 127: times 2^112, which is exact and normalises subnormals.
  return floatOf(bitsOf(floatOf(magnitude << 13) * 0x1p112F) | sign);
}

}  // namespace

PairState emptyState() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const PairSide none{kInf, -kInf, 0xFFFFFFFFU, 0};
  return {0, 0, 0, 0, 0, 0, 0, {none, none}, 0, 0, 0, 0};
}

PairParameters makeParameters(double atol, double rtol, bool low16, bool ulp) {
  const base::FormatLimits limits = base::limits(low16 ? base::DType::float16 : base::DType::bfloat16);
  // Both limits are ties, and both ties are even downwards: half of the smallest step to zero, half a step below tiny to tiny.
  const auto zero = static_cast<float>(limits.minSubnormal / 2);
  const auto normal = static_cast<float>(limits.minNormal - limits.minSubnormal / 2);
  return {atol, rtol, low16, ulp, static_cast<float>(limits.minNormal), bitsOf(zero), bitsOf(normal)};
}

void addPairsPortably(const float* a, const float* b, std::int64_t count, const PairParameters& p, PairState& state) {
  const bool finite = addPortably({a, b, ElementFormat::float32, count, 1, count, count}, p, state);
  ULPSCOPE_CHECK(finite);
}

void widenPortably(const void* from, ElementFormat format, float* to, std::int64_t count) {
  const auto* bits = static_cast<const std::uint16_t*>(from);
  if (format == ElementFormat::float16)
    for (std::int64_t i = 0; i < count; ++i) to[i] = widenHalf(bits[i]);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = floatOf(static_cast<std::uint32_t>(bits[i]) << 16);
}

void addAlone(PairSide& side, float x, const PairParameters& p) { addSide(side, x, p); }

std::int32_t orderedLow(float x, bool low16) { return ordered(x, low16); }

std::int32_t orderedLow(double x, bool low16) {
  auto f = static_cast<float>(x);
  if (static_cast<double>(f) != x && !std::isnan(x)) {
    // Rounded to odd instead: the next rounding then sees on which side of a tie x lies.
    if (std::fabs(static_cast<double>(f)) > std::fabs(x)) f = floatOf(bitsOf(f) - 1);
    f = floatOf(bitsOf(f) | 1U);
  }
  return ordered(f, low16);
}

bool isSupported(InstructionSet set) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  switch (set) {
    case InstructionSet::portable: return true;
    case InstructionSet::avx2: return avx2;
    case InstructionSet::avx512:
      return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq");
  }
#endif
  return set == InstructionSet::portable;
}

InstructionSet bestInstructionSet() {
  static const InstructionSet best = isSupported(InstructionSet::avx512) ? InstructionSet::avx512
                                     : isSupported(InstructionSet::avx2) ? InstructionSet::avx2
                                                                         : InstructionSet::portable;
  return best;
}

PairKernel kernelFor(InstructionSet set) {
  ULPSCOPE_CHECK(isSupported(set));
#if defined(__x86_64__)
  if (set == InstructionSet::avx512) return avx512Kernel();
  if (set == InstructionSet::avx2) return avx2Kernel();
#endif
  return {addPortably, widenPortably};
}

}  // namespace ulpscope::analysis
