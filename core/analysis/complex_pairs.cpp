#include "core/analysis/complex_pairs.h"

#include "core/analysis/wide_pairs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace ulpscope::analysis {
namespace {

using Complex = std::complex<double>;

// Element i of all runs, one after another.
Complex elementOf(const Runs& runs, std::int64_t i) {
  const std::int64_t place = i / runs.length * runs.step + i % runs.length;
  if (runs.dtype == base::DType::complex64) return Complex(static_cast<const std::complex<float>*>(runs.data)[place]);
  if (runs.dtype == base::DType::complex128) return static_cast<const Complex*>(runs.data)[place];
  TensorView real;
  real.data = runs.data;
  real.dtype = runs.dtype;
  return elementAt(real, place);
}

bool isFinite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

double roundsToZero(const PairParameters& p) { return std::bit_cast<float>(p.roundsToZero); }

std::int64_t ulpDistance(double a, double b, const PairParameters& p) { return std::abs(orderedLow(a, p.low16) - orderedLow(b, p.low16)); }

double addSide(SideRange& range, double modulus, const PairParameters& p) {
  if (!(range.min <= modulus)) range.min = modulus;
  if (!(range.max >= modulus)) range.max = modulus;
  if (modulus != 0 && !(range.smallestNonZero <= modulus)) range.smallestNonZero = modulus;
  range.subnormal += modulus > roundsToZero(p) && modulus < std::bit_cast<float>(p.roundsToNormal);
  return modulus;
}

}  // namespace

void ComplexComparison::addFinite(SampleDivergence& s, Complex a, Complex b) const {
  const PairParameters& p = m_parameters;
  const double magnitude = modulusOf(a);
  const double difference = modulusOf(b - a);
  const long double ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  ++s.finitePairs;
  s.maxAbs = std::max(s.maxAbs, difference);
  s.sumAbs += difference;
  s.sumSquaredDifference += (br - ar) * (br - ar) + (bi - ai) * (bi - ai);
  s.sumSquaredReference += ar * ar + ai * ai;
  s.sumSquaredCandidate += br * br + bi * bi;
  s.sumProduct += ar * br + ai * bi;
  const bool vanishes = std::fabs(a.real()) <= roundsToZero(p) && std::fabs(a.imag()) <= roundsToZero(p);
  s.flushedToZero += b == 0.0 && a != 0.0 && vanishes;
  if (a == b) return;
  ++s.differing;
  s.maxRel = std::max(s.maxRel, difference / std::max(magnitude, static_cast<double>(p.tiny)));
  s.overTolerance += difference > p.atol + p.rtol * magnitude;
  if (p.ulp) s.maxUlp = std::max({s.maxUlp, ulpDistance(a.real(), b.real(), p), ulpDistance(a.imag(), b.imag(), p)});
}

void ComplexComparison::add(std::int64_t sample, const Runs& a, const Runs& b) {
  SampleDivergence& s = m_samples[static_cast<std::size_t>(sample)];
  const std::int64_t count = a.length * a.count;
  s.elements += count;
  for (std::int64_t i = 0; i < count; ++i) {
    const Complex x = elementOf(a, i), y = elementOf(b, i);
    if (isFinite(x)) s.referenceMaxAbs = std::max(s.referenceMaxAbs, addSide(s.referenceRange, modulusOf(x), m_parameters));
    if (isFinite(y)) s.candidateMaxAbs = std::max(s.candidateMaxAbs, addSide(s.candidateRange, modulusOf(y), m_parameters));
    if (isFinite(x) && isFinite(y))
      addFinite(s, x, y);
    else
      countNonfinite(s, modulusOf(x), modulusOf(y));
  }
}

}  // namespace ulpscope::analysis
