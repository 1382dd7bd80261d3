#include "core/analysis/point_reader.h"

#include "core/analysis/choice.h"
#include "core/base/hashing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ulpscope::analysis {
namespace {

using session::PairAtPoint;
using session::ScanDecision;

constexpr std::size_t kMostKept = std::size_t{1} << 22;  // scores of one run in memory, before those not shown are dropped

PositionGrid gridOf(const TensorView& view, int sampleAxis, const session::DecisionRule& rule) {
  return positionGrid(view.shape, sampleAxis, classAxisOf(static_cast<int>(view.shape.size()), sampleAxis, rule));
}

std::string keyOf(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += std::to_string(value) + ",";
  return text;
}

// Numbers of the `count` best scores, NaN last.
std::vector<std::size_t> bestOf(const std::vector<double>& scores, std::size_t count, bool smallest) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto worth = [&](std::size_t i) { return std::isnan(scores[i]) ? -INFINITY : smallest ? -scores[i] : scores[i]; };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) { return worth(a) != worth(b) ? worth(a) > worth(b) : a < b; });
  order.erase(end, order.end());
  return order;
}

std::vector<double> picked(const std::vector<double>& scores, const std::vector<std::int64_t>& classes) {
  std::vector<double> some;
  for (const std::int64_t c : classes) some.push_back(scores[static_cast<std::size_t>(c)]);
  return some;
}

}  // namespace

int DecisionTable::numberOf(ScanDecision decision) {
  const std::string key = (decision.tied ? "tie " : "") + keyOf(decision.values);
  const auto known = m_numbers.find(key);
  if (known != m_numbers.end()) return known->second;
  decision.count = static_cast<std::int64_t>(decision.values.size());
  if (decision.values.size() > session::kShownPositions) {
    decision.key = base::sha256(key).substr(0, 16);
    decision.values.resize(session::kShownPositions);
  }
  const int number = static_cast<int>(m_all.size());
  m_numbers.emplace(key, number);
  m_all.push_back(std::move(decision));
  return number;
}

PointReader::OneRun PointReader::decided(const TensorView& view, std::int64_t sample) {
  const PositionGrid grid = gridOf(view, m_sampleAxis, m_rule);
  OneRun run{session::kNoDecision, std::nan(""), false};
  ScanDecision decision;
  for (std::int64_t p = 0; p < grid.positions; ++p) {
    Choice choice = choose(m_rule, view, grid, grid.offset(sample, p));
    if (!choice.decided) return {session::kNoDecision, std::nan(""), run.tied};
    run.tied = run.tied || choice.tied;
    run.margin = std::isnan(run.margin) ? choice.margin : std::min(run.margin, choice.margin);
    std::sort(choice.set.begin(), choice.set.end());
    if (choice.set.empty()) choice.set = {choice.value};
    decision.values.insert(decision.values.end(), choice.set.begin(), choice.set.end());
  }
  decision.tied = run.tied && m_tie == session::TieRule::flag;
  run.decision = m_table.numberOf(std::move(decision));
  return run;
}

double PointReader::errorBetween(const TensorView& a, const TensorView& b, std::int64_t sample) const {
  const PositionGrid grid = gridOf(a, m_sampleAxis, m_rule);
  double largest = 0;
  for (std::int64_t p = 0; p < grid.positions; ++p)
    for (std::int64_t c = 0; c < grid.classes; ++c) {
      const std::int64_t at = grid.offset(sample, p) + c * grid.classStride;
      largest = std::max(largest, scoreError(elementAt(a, at), elementAt(b, at)));
    }
  return largest;
}

void PointReader::keepScores(PairAtPoint& pair, const TensorView& reference, const TensorView& candidate, std::int64_t sample) {
  const PositionGrid grid = gridOf(reference, m_sampleAxis, m_rule);
  m_keptScores += static_cast<std::size_t>(grid.classes);
  m_keepsScores = m_keepsScores && grid.positions == 1 && m_keptScores <= kMostKept;
  for (std::int64_t c = 0; c < grid.classes && m_keepsScores; ++c) {
    pair.referenceScores.push_back(elementAt(reference, grid.offset(sample, 0) + c * grid.classStride));
    pair.candidateScores.push_back(elementAt(candidate, grid.offset(sample, 0) + c * grid.classStride));
  }
}

LookedAt PointReader::look(const TensorView& reference, const TensorView& candidate, std::int64_t sample, bool& tied) {
  const OneRun a = decided(reference, sample), b = decided(candidate, sample);
  tied = tied || a.tied || b.tied;
  LookedAt looked;
  PairAtPoint& pair = looked.pair;
  pair.reference = a.decision;
  pair.candidate = b.decision;
  pair.referenceMargin = a.margin;
  pair.candidateMargin = b.margin;
  pair.maxError = errorBetween(reference, candidate, sample);
  if (m_keepsScores) keepScores(pair, reference, candidate, sample);
  return looked;
}

void LookedAt::take(const NoiseAtPoint& found, int errorsToFlip) {
  measured = true;
  noise = found.decision;
  pair.noiseError = found.error;
  pair.withinNoise = noise != pair.reference || (found.error > 0 && pair.referenceMargin <= errorsToFlip * found.error);
}

std::vector<NoiseAtPoint> PointReader::readNoise(const TensorView& reference, const TensorView& other, std::int64_t count) {
  std::vector<NoiseAtPoint> points;
  for (std::int64_t sample = 0; sample < count; ++sample) points.push_back({decided(other, sample).decision, errorBetween(reference, other, sample)});
  return points;
}

base::Result<std::vector<LookedAt>> PointReader::read(const TensorView& reference, const TensorView& candidate, std::int64_t count) {
  std::vector<LookedAt> points;
  bool tied = false;
  for (std::int64_t sample = 0; sample < count; ++sample) points.push_back(look(reference, candidate, sample, tied));
  if (tied && m_tie == session::TieRule::refuse)
    return base::Error{base::ErrorKind::run, "best scores are equal at a point of it, and the tie rule is 'refuse'", "the scan", "choose --tie first or --tie flag"};
  return points;
}

std::vector<std::int64_t> trimScores(const std::vector<PairAtPoint*>& points, const session::DecisionRule& rule) {
  const auto scored = std::find_if(points.begin(), points.end(), [](const PairAtPoint* p) { return !p->referenceScores.empty(); });
  if (scored == points.end()) return {};
  const std::size_t classes = (*scored)->referenceScores.size();
  std::vector<std::int64_t> shown(classes), times(classes, 0);
  std::iota(shown.begin(), shown.end(), std::int64_t{0});
  const std::size_t near = rule.kind == session::DecisionRule::Kind::topk ? static_cast<std::size_t>(rule.k) + 1 : 2;
  if (classes > session::kShownClasses) {
    for (const PairAtPoint* p : points)
      for (const auto* scores : {&p->referenceScores, &p->candidateScores})
        for (const std::size_t c : bestOf(*scores, near, rule.kind == session::DecisionRule::Kind::argmin)) ++times[c];
    std::stable_sort(shown.begin(), shown.end(), [&](std::int64_t a, std::int64_t b) { return times[static_cast<std::size_t>(a)] > times[static_cast<std::size_t>(b)]; });
    shown.resize(session::kShownClasses);
    std::sort(shown.begin(), shown.end());
  }
  const bool someHaveNone = std::any_of(points.begin(), points.end(), [](const PairAtPoint* p) { return p->referenceScores.empty(); });
  const bool keeps = !someHaveNone && points.size() * shown.size() <= session::kMostScores;
  for (PairAtPoint* p : points) {
    p->referenceScores = keeps ? picked(p->referenceScores, shown) : std::vector<double>();
    p->candidateScores = keeps ? picked(p->candidateScores, shown) : std::vector<double>();
  }
  return keeps ? shown : std::vector<std::int64_t>();
}

}  // namespace ulpscope::analysis
