#include "core/analysis/divergence_walk.h"

#include "core/analysis/complex_pairs.h"
#include "core/analysis/pair_tiles.h"
#include "core/analysis/wide_pairs.h"
#include "core/base/error.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ulpscope::analysis {
namespace {

using base::DType;

// Rounds to nearest and keeps subnormals while it lives, whatever the model's thread is set to (torch.set_flush_denormal).
class PlainArithmetic {
 public:
  PlainArithmetic() {
    std::fegetenv(&m_environment);
    std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
    _mm_setcsr(0x1F80);  // also flush-to-zero and denormals-are-zero off, which FE_DFL_ENV does not promise
#endif
  }
  ~PlainArithmetic() { std::fesetenv(&m_environment); }
  PlainArithmetic(const PlainArithmetic&) = delete;
  PlainArithmetic& operator=(const PlainArithmetic&) = delete;

 private:
  std::fenv_t m_environment;
};

bool isUpToFloat32(DType dtype) { return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16; }

ElementFormat formatOf(DType dtype) {
  return dtype == DType::float32 ? ElementFormat::float32 : dtype == DType::float16 ? ElementFormat::float16 : ElementFormat::bfloat16;
}

// The kernel over all blocks, and what it leaves: blocks with non-finite or very large elements.
class FloatComparison {
 public:
  FloatComparison(InstructionSet set, const PairParameters& parameters, std::vector<SampleDivergence>& samples)
      : m_kernel(kernelFor(set)), m_parameters(parameters), m_samples(samples), m_states(samples.size(), emptyState()) {}

  void add(std::int64_t sample, const Runs& a, const Runs& b) {
    const auto at = static_cast<std::size_t>(sample);
    const std::int64_t count = a.length * a.count;
    m_samples[at].elements += count;
    const bool inPlace = a.dtype == DType::float32 && (a.count == 1 || a.length % 16 == 0);
    const bool added = inPlace ? m_kernel.add({static_cast<const float*>(a.data), b.data, formatOf(b.dtype), a.length, a.count, a.step, b.step, a.ahead},
                                              m_parameters, m_states[at])
                               : m_kernel.add({widened(a, m_joinedA, m_wideA), joined(b, m_joinedB), formatOf(b.dtype), count, 1, count, count},
                                              m_parameters, m_states[at]);
    if (added)
      m_samples[at].finitePairs += count;
    else
      addCarefully(m_samples[at], m_states[at], a, b);
  }

  void finish() {
    for (std::size_t i = 0; i < m_samples.size(); ++i) store(m_states[i], m_samples[i]);
  }

 private:
  const float* widened(const Runs& runs, TileBuffer& joinedBuffer, TileBuffer& wideBuffer) {
    const void* together = joined(runs, joinedBuffer);
    if (runs.dtype == DType::float32) return static_cast<const float*>(together);
    m_kernel.widen(together, formatOf(runs.dtype), wideBuffer.as<float>(), runs.length * runs.count);
    return wideBuffer.as<float>();
  }

  // Finite pairs close ranks, the others are counted one by one.
  void addCarefully(SampleDivergence& sample, PairState& state, const Runs& a, const Runs& b) {
    const float* x = widened(a, m_joinedA, m_wideA);
    const float* y = widened(b, m_joinedB, m_wideB);
    auto* finiteX = m_finiteA.as<float>();
    auto* finiteY = m_finiteB.as<float>();
    std::int64_t finite = 0;
    for (std::int64_t i = 0, count = a.length * a.count; i < count; ++i) {
      finiteX[finite] = x[i];
      finiteY[finite] = y[i];
      if (std::isfinite(x[i]) && std::isfinite(y[i])) {
        ++finite;
        continue;
      }
      countNonfinite(sample, x[i], y[i]);
      if (std::isfinite(x[i])) addAlone(state.side[0], x[i], m_parameters);
      if (std::isfinite(y[i])) addAlone(state.side[1], y[i], m_parameters);
    }
    sample.finitePairs += finite;
    if (!m_kernel.add({finiteX, finiteY, ElementFormat::float32, finite, 1, finite, finite}, m_parameters, state))
      addPairsPortably(finiteX, finiteY, finite, m_parameters, state);
  }

  static double storeSide(const PairSide& side, SideRange& range) {
    range.subnormal = side.subnormal;
    if (side.smallest != 0xFFFFFFFFU) range.smallestNonZero = std::bit_cast<float>(side.smallest);
    if (side.min > side.max) return 0;  // nothing finite
    range.min = side.min;
    range.max = side.max;
    return std::max(std::fabs(range.min), std::fabs(range.max));
  }

  static void store(const PairState& state, SampleDivergence& sample) {
    sample.maxAbs = state.maxAbs;
    sample.maxRel = state.maxRel;
    sample.sumAbs = state.sumAbs;
    sample.sumSquaredDifference = state.sumSquaredDifference;
    sample.sumSquaredReference = state.sumSquaredReference;
    sample.sumSquaredCandidate = state.sumSquaredCandidate;
    sample.sumProduct = state.sumProduct;
    sample.referenceMaxAbs = storeSide(state.side[0], sample.referenceRange);
    sample.candidateMaxAbs = storeSide(state.side[1], sample.candidateRange);
    sample.flushedToZero = state.flushed;
    sample.overTolerance += state.overTolerance;  // beside those not finite
    sample.differing += state.differing;
    sample.maxUlp = state.maxUlp;
  }

  PairKernel m_kernel;
  const PairParameters& m_parameters;
  std::vector<SampleDivergence>& m_samples;
  std::vector<PairState> m_states;
  TileBuffer m_joinedA, m_joinedB, m_wideA, m_wideB, m_finiteA, m_finiteB;
};

}  // namespace

std::vector<SampleDivergence> compareTensorsWith(InstructionSet set, const base::Reference<TensorView>& reference,
                                                 const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                                 const CompareOptions& options) {
  const TensorView& a = reference.value;
  const TensorView& b = candidate.value;
  ULPSCOPE_CHECK(a.shape == b.shape);
  ULPSCOPE_CHECK(options.low == DType::float16 || options.low == DType::bfloat16);
  ULPSCOPE_CHECK(options.tolerance.atol >= 0 && options.tolerance.rtol >= 0);
  const PlainArithmetic plain;
  const PairParameters parameters = makeParameters(options.tolerance.atol, options.tolerance.rtol, options.low == DType::float16, options.ulp);
  std::vector<SampleDivergence> samples(static_cast<std::size_t>(layout.samples));
  if (isUpToFloat32(a.dtype) && isUpToFloat32(b.dtype)) {
    FloatComparison comparison(set, parameters, samples);
    forEachPairOfRuns(a, b, layout, [&](std::int64_t sample, const Runs& x, const Runs& y) { comparison.add(sample, x, y); });
    comparison.finish();
  } else if (base::isComplex(a.dtype) || base::isComplex(b.dtype)) {
    ComplexComparison comparison(parameters, samples);
    forEachPairOfRuns(a, b, layout, [&](std::int64_t sample, const Runs& x, const Runs& y) { comparison.add(sample, x, y); });
  } else {
    WideComparison comparison(parameters, samples);
    forEachPairOfRuns(a, b, layout, [&](std::int64_t sample, const Runs& x, const Runs& y) { comparison.add(sample, x, y); });
  }
  return samples;
}

std::vector<SampleDivergence> compareTensors(const base::Reference<TensorView>& reference,
                                             const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                             const CompareOptions& options) {
  return compareTensorsWith(bestInstructionSet(), reference, candidate, layout, options);
}

}  // namespace ulpscope::analysis
