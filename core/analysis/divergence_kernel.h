// The inner loop of compareTensors: pairs of one sample with the reference as float32. Private to core/analysis, tests, benches.
//
// The loop exists once per instruction set. All of them give the same bits: sums run in 16 double lanes (element i of a block's
// segment in lane i mod 16) that are added in one fixed order; squared differences are added fused, and other products of two floats are exact in
// double, so that fusing changes nothing; everything else is a maximum or a count.
//
// This header is read by files compiled for newer processors than the rest: no inline function of the standard library may
// come out of them, or the linker could choose their copy for everybody.
#pragma once

#include <cstdint>

namespace ulpscope::analysis {

enum class InstructionSet { portable, avx2, avx512 };
bool isSupported(InstructionSet set);  // by this build on this processor
InstructionSet bestInstructionSet();

enum class ElementFormat { float32, float16, bfloat16 };

struct PairParameters {
  double atol, rtol;
  bool low16;  // the low format: float16, else bfloat16
  bool ulp;
  float tiny;
  // Bit patterns of float32 magnitudes: largest that rounds to zero, smallest that does not round below tiny.
  std::uint32_t roundsToZero, roundsToNormal;
};
PairParameters makeParameters(double atol, double rtol, bool low16, bool ulp);

// Range of one side; magnitudes as float32 bits, which sort as the values do.
struct PairSide {
  float min, max;                  // +inf, -inf: none
  std::uint32_t smallest;          // 0xFFFFFFFF: none
  std::int64_t subnormal;
};

struct PairState {
  double sumAbs, sumSquaredDifference, sumSquaredReference, sumSquaredCandidate, sumProduct;
  double maxAbs, maxRel;
  PairSide side[2];                // reference, candidate
  std::int64_t flushed, overTolerance, differing;
  std::int32_t maxUlp;
};
PairState emptyState();

// `count` runs of `length` elements, `step` elements from start to start. Precondition: length % 16 == 0 or count == 1.
struct PairBlock {
  const float* a;
  const void* b;
  ElementFormat bFormat;
  std::int64_t length, count;
  std::int64_t aStep, bStep;
  std::int64_t ahead = 0;  // elements from here to what is read next: a hint, may point anywhere
};

// Adds a block to the state. False, and nothing added: an element is not finite or beyond 2^126, see addPairsExactly.
using AddPairs = bool (*)(const PairBlock& block, const PairParameters& parameters, PairState& state);
using Widen = void (*)(const void* from, ElementFormat format, float* to, std::int64_t count);

struct PairKernel {
  AddPairs add;
  Widen widen;  // float16 or bfloat16 to float32
};
PairKernel kernelFor(InstructionSet set);

// What AddPairs is for finite elements of any size, as plain C++.
void addPairsPortably(const float* a, const float* b, std::int64_t count, const PairParameters& parameters, PairState& state);
void widenPortably(const void* from, ElementFormat format, float* to, std::int64_t count);
// The element's own part alone: range, subnormal. For elements without a finite partner.
void addAlone(PairSide& side, float x, const PairParameters& parameters);

#if defined(__x86_64__)
PairKernel avx2Kernel();
PairKernel avx512Kernel();
#endif

// float16 or bfloat16 rounding of x (to nearest, ties to even) as an integer that counts the format's steps from zero; of NaN
// something. From double in one rounding.
std::int32_t orderedLow(float x, bool low16);
std::int32_t orderedLow(double x, bool low16);

}  // namespace ulpscope::analysis
