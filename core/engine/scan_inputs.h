// The inputs of a scan's points. Private to core/engine.
#pragma once

#include "core/analysis/interpolation.h"
#include "core/engine/inputs.h"
#include "core/session/scan.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::engine {

// A point of one of the ways: how far along each of its directions.
struct PointOnWay {
  std::size_t way = 0;
  std::vector<double> coefficients;
};

// Ways through the inputs of the set, each from a sample of its own. `set` must outlive it.
class ScanInputs {
 public:
  explicit ScanInputs(const ReferenceSet& set) : m_set(set) {}

  // One way, from the first sample towards each of the others: a segment, or a plane. Every floating input that differs moves, all others stay
  // as they are. Error kind input naming an input that cannot be interpolated (integers, bools, complex numbers that differ; infinities that only
  // one sample has); kind usage where nothing differs.
  base::Status addTowards(const std::vector<std::int64_t>& samples);
  // A way from the sample along these directions, by input; inputs without one stay.
  void addAlong(std::int64_t sample, const std::map<std::string, std::vector<double>>& directions);
  void clearWays() { m_ways.clear(); }

  // Each way's sample and, for its moving inputs, the points. Precondition: all points are of ways that move the same inputs.
  Arguments argumentsFor(const std::vector<PointOnWay>& points) const;

  // Of the first way's directions, over all inputs that move: their inner product; of one with itself, its norm squared.
  double innerProduct(std::size_t a, std::size_t b) const;
  std::vector<session::ScannedInput> described() const;  // by the first way
  // Names of the inputs that samples have their own of and that are floating.
  std::vector<std::string> floatingInputs() const;
  // L2 norm over those, of one sample; elements that are not finite (a mask's -inf) do not count.
  double norm(std::int64_t sample) const;

 private:
  struct Way {
    std::int64_t sample = 0;
    std::map<std::string, analysis::InputPath> paths;
  };
  const ReferenceSet& m_set;
  std::vector<Way> m_ways;

  at::Tensor rowOf(const InputTensor& input, std::int64_t sample) const;
  at::Tensor stacked(const std::string& name, const InputTensor& input, const std::vector<PointOnWay>& points) const;
};

}  // namespace ulpscope::engine
