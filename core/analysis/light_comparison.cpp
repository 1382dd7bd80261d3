#include "core/analysis/light_comparison.h"

#include "core/analysis/divergence_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// One loop for all processors: the compiler makes a version for each, the loader chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ULPSCOPE_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ULPSCOPE_FOR_EACH_PROCESSOR
#endif

namespace ulpscope::analysis {
namespace {

constexpr std::int64_t kPiece = 4096;  // of both fits a first-level cache
constexpr int kLanes = 16;

struct Lanes {
  double difference[kLanes], reference[kLanes], largest[kLanes];
};

// count: a multiple of kLanes.
ULPSCOPE_FOR_EACH_PROCESSOR void addPairs(const float* a, const float* b, std::int64_t count, Lanes& lanes) {
  for (std::int64_t i = 0; i < count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const double x = static_cast<double>(a[i + lane]), d = static_cast<double>(b[i + lane]) - x, size = std::fabs(d);
      lanes.difference[lane] += d * d;
      lanes.reference[lane] += x * x;
      lanes.largest[lane] = lanes.largest[lane] < size ? size : lanes.largest[lane];
    }
}

LightSums sumOf(const Lanes& lanes, std::int64_t pairs) {
  LightSums sums;
  for (int lane = 0; lane < kLanes; ++lane) {
    sums.squaredDifference += lanes.difference[lane];
    sums.squaredReference += lanes.reference[lane];
    sums.maxAbs = std::max(sums.maxAbs, lanes.largest[lane]);
  }
  sums.finitePairs = pairs;
  return sums;
}

// One by one, for pieces that hold something else than finite pairs.
LightSums finiteOnly(const float* a, const float* b, std::int64_t count) {
  LightSums sums;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    const double x = static_cast<double>(a[i]), d = static_cast<double>(b[i]) - x;
    sums.add({d * d, x * x, std::fabs(d), 1});
  }
  return sums;
}

// The elements as float32: themselves, or widened into `room`.
const float* floats(const std::byte* from, base::DType dtype, std::int64_t count, const PairKernel& kernel, float* room) {
  if (dtype == base::DType::float32)
    std::memcpy(room, from, static_cast<std::size_t>(count) * sizeof(float));
  else
    kernel.widen(from, dtype == base::DType::float16 ? ElementFormat::float16 : ElementFormat::bfloat16, room, count);
  return room;
}

}  // namespace

void LightSums::add(const LightSums& other) {
  squaredDifference += other.squaredDifference;
  squaredReference += other.squaredReference;
  maxAbs = std::max(maxAbs, other.maxAbs);
  finitePairs += other.finitePairs;
}

bool isLight(base::DType dtype) { return dtype == base::DType::float16 || dtype == base::DType::bfloat16 || dtype == base::DType::float32; }

LightSums lightSums(const std::byte* a, base::DType aDtype, const std::byte* b, base::DType bDtype, std::int64_t count) {
  static const PairKernel kernel = kernelFor(bestInstructionSet());
  alignas(64) float roomA[kPiece], roomB[kPiece];
  LightSums total;
  for (std::int64_t first = 0; first < count; first += kPiece) {
    const std::int64_t length = std::min(kPiece, count - first), whole = (length + kLanes - 1) / kLanes * kLanes;
    const auto at = [first](const std::byte* from, base::DType dtype) { return from + static_cast<std::size_t>(first) * base::sizeBytes(dtype); };
    const float* x = floats(at(a, aDtype), aDtype, length, kernel, roomA);
    const float* y = floats(at(b, bDtype), bDtype, length, kernel, roomB);
    std::fill(roomA + length, roomA + whole, 0.0F);  // pairs of zeros add nothing
    std::fill(roomB + length, roomB + whole, 0.0F);
    Lanes lanes{};
    addPairs(x, y, whole, lanes);
    const LightSums piece = sumOf(lanes, length);
    total.add(std::isfinite(piece.squaredDifference) && std::isfinite(piece.squaredReference) ? piece : finiteOnly(x, y, length));
  }
  return total;
}

}  // namespace ulpscope::analysis
