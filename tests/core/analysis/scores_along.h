// Scores as functions of t, looked at as an engine would: what searches along segments are tested with.
#pragma once

#include "core/analysis/segment_search.h"

#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace ulpscope::analysis {

using ScoresAt = std::function<std::vector<double>(double t)>;

inline session::DecisionRule ruleOf(const std::string& text) { return session::parseDecisionRule(text).value(); }

// The first float32 for which `holds`; by bisection on a condition that stays true. Precondition: not at 0, true at 1.
inline float firstFloat(const std::function<bool(double)>& holds) {
  float below = 0, at = 1;
  while (std::nextafterf(below, 1.0F) < at) {
    const float middle = static_cast<float>((static_cast<double>(below) + static_cast<double>(at)) / 2);
    const float inside = middle <= below || middle >= at ? std::nextafterf(below, 1.0F) : middle;
    (holds(static_cast<double>(inside)) ? at : below) = inside;
  }
  return at;
}

class ScoresAlong {
 public:
  ScoresAlong(ScoresAt reference, ScoresAt candidate, const std::string& rule = "argmax", session::TieRule tie = session::TieRule::first)
      : m_reference(std::move(reference)), m_candidate(std::move(candidate)), m_rule(ruleOf(rule)), m_reader(m_rule, tie, 0) {}
  void setNoise(ScoresAt noise) { m_noise = std::move(noise); }

  base::Result<SegmentResult> search(std::int64_t steps = 1001, std::size_t batch = 32) {
    const NoiseAt noise = [this](const std::vector<float>& ts) { return lookAtNoise(ts); };
    return searchSegment({steps, batch, m_rule.errorsToFlip()}, [this](const std::vector<float>& ts) { return look(ts); }, m_noise ? noise : NoiseAt());
  }
  // Precondition: it succeeds.
  session::SegmentScan found(std::int64_t steps = 1001, std::size_t batch = 32) { return search(steps, batch).value().scan; }

  const std::vector<session::ScanDecision>& decisions() const { return m_reader.decisions(); }
  std::int64_t first(int decision) const { return decisions().at(static_cast<std::size_t>(decision)).values.at(0); }
  std::size_t evaluations() const { return m_seen.size(); }
  bool sawTwice() const { return m_twice; }

 private:
  ScoresAt m_reference, m_candidate, m_noise;
  session::DecisionRule m_rule;
  PointReader m_reader;
  std::set<float> m_seen;
  bool m_twice = false;

  static std::vector<double> table(const ScoresAt& scores, const std::vector<float>& ts) {
    std::vector<double> all;
    for (const float t : ts)
      for (const double score : scores(static_cast<double>(t))) all.push_back(score);
    return all;
  }

  base::Result<std::vector<LookedAt>> look(const std::vector<float>& ts) {
    for (const float t : ts) m_twice = !m_seen.insert(t).second || m_twice;
    const std::vector<double> a = table(m_reference, ts), b = table(m_candidate, ts);
    const auto count = static_cast<std::int64_t>(ts.size());
    const std::vector<std::int64_t> shape{count, static_cast<std::int64_t>(a.size()) / count};
    return m_reader.read({a.data(), base::DType::float64, shape}, {b.data(), base::DType::float64, shape}, count);
  }

  base::Result<std::vector<NoiseAtPoint>> lookAtNoise(const std::vector<float>& ts) {
    const std::vector<double> a = table(m_reference, ts), b = table(m_noise, ts);
    const auto count = static_cast<std::int64_t>(ts.size());
    const std::vector<std::int64_t> shape{count, static_cast<std::int64_t>(a.size()) / count};
    return m_reader.readNoise({a.data(), base::DType::float64, shape}, {b.data(), base::DType::float64, shape}, count);
  }
};

}  // namespace ulpscope::analysis
