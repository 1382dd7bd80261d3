// The part of ScanDriver that follows margins downhill, from each sample by itself.
#include "core/analysis/near_search.h"
#include "core/engine/scan_driver.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Status;

constexpr std::size_t kMostDirections = std::size_t{1} << 24;  // float64 elements in memory
constexpr std::size_t kMostWays = 256;                         // at once

void withoutScores(session::PairAtPoint& pair) { pair.referenceScores = pair.candidateScores = {}; }

session::NearestFlip inUnits(session::NearestFlip flip, const session::NearSample& sample) {
  if (!flip.found) return flip;
  flip.step *= sample.limit;
  flip.relative = flip.step / sample.norm;
  return flip;
}

}  // namespace

Status ScanDriver::measureCurve(ScanRuns& runs) {
  const auto count = static_cast<std::int64_t>(m_set.samples.ids.size());
  std::vector<PointOnWay> points;
  for (std::int64_t sample = 0; sample < count; ++sample) {
    m_inputs.addAlong(sample, {});
    points.push_back({static_cast<std::size_t>(sample), {}});
  }
  runs.beginStage("measuring margins", count);
  const auto looked = runs.look(points);
  m_inputs.clearWays();
  if (!looked) return looked.error();
  std::vector<session::DecidedWithin>& curve = m_scan.near->curve;
  for (std::size_t i = 0; i < looked->size(); ++i) {
    const session::PairAtPoint& pair = looked.value()[i].pair;
    m_points.push_back(pair);
    withoutScores(m_points.back());
    const bool isDecided = pair.reference != session::kNoDecision && pair.candidate != session::kNoDecision;
    const double bound = isDecided ? m_settings.decision.errorsToFlip() * pair.maxError : std::nan("");
    curve.push_back({m_set.samples.ids[i], pair.referenceMargin, bound, pair.differs()});
  }
  const auto order = [](double margin) { return std::isnan(margin) ? INFINITY : margin; };
  std::stable_sort(curve.begin(), curve.end(), [&](const auto& a, const auto& b) { return order(a.margin) < order(b.margin) || (std::isnan(b.margin) && !std::isnan(a.margin)); });
  return base::success();
}

void ScanDriver::addNear(std::int64_t number, const MarginGradient& gradient) {
  session::NearSample sample;
  sample.id = m_set.samples.ids[static_cast<std::size_t>(number)];
  sample.at = m_points[static_cast<std::size_t>(number)];
  sample.norm = m_inputs.norm(number);
  sample.gradientNorm = gradient.norm;
  sample.skipped = gradient.skipped;
  sample.limit = m_request.limit * (sample.norm > 0 ? sample.norm : 1);
  if (sample.skipped.empty()) {
    m_inputs.addAlong(number, gradient.direction);
    m_ways.push_back(m_scan.near->samples.size());
  }
  m_scan.near->samples.push_back(std::move(sample));
}

Status ScanDriver::searchNear(ScanRuns& runs) {
  if (m_ways.empty()) return base::success();
  std::vector<session::NearSample>& samples = m_scan.near->samples;
  const analysis::LookAtWays lookAt = [&](const std::vector<analysis::WayPoint>& wanted) {
    std::vector<PointOnWay> points;
    for (const analysis::WayPoint& point : wanted) points.push_back({point.way, {static_cast<double>(point.part) * samples[m_ways[point.way]].limit}});
    auto looked = runs.look(points);
    if (looked)
      for (analysis::LookedAt& at : looked.value()) withoutScores(at.pair);
    return looked;
  };
  auto found = analysis::searchWays(m_ways.size(), static_cast<std::size_t>(m_settings.batchSize), lookAt);
  if (!found) return found.error();
  for (std::size_t way = 0; way < m_ways.size(); ++way) {
    session::NearSample& sample = samples[m_ways[way]];
    sample.at = std::move(found.value()[way].start.pair);
    sample.reference = inUnits(found.value()[way].reference, sample);
    sample.candidate = inUnits(found.value()[way].candidate, sample);
  }
  return base::success();
}

Status ScanDriver::scanNearSome(ScanRuns& runs, const ScanFrame& frame, const std::vector<std::int64_t>& samples, std::stop_token stop) {
  m_ways.clear();
  m_inputs.clearWays();
  const auto batch = static_cast<std::size_t>(m_settings.batchSize);
  for (std::size_t first = 0; first < samples.size(); first += batch) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(first), end = samples.begin() + static_cast<std::ptrdiff_t>(std::min(samples.size(), first + batch));
    const std::vector<std::int64_t> some(begin, end);
    const auto gradients = marginGradients(frame, some, stop);
    if (!gradients) return gradients.error();
    for (std::size_t i = 0; i < some.size(); ++i) addNear(some[i], gradients.value()[i]);
  }
  return searchNear(runs);
}

Status ScanDriver::scanNear(ScanRuns& runs, const ScanFrame& frame, const std::vector<std::int64_t>& samples, std::stop_token stop) {
  if (m_inputs.floatingInputs().empty()) return Error{ErrorKind::input, "no input is floating, so there is no gradient to follow", "--near", "wrap the model so that forward takes what its inputs are turned into (an embedding, say)"};
  m_scan.near.emplace();
  m_scan.near->limit = m_request.limit;
  m_scan.near->growth = std::numbers::sqrt2;
  if (auto measured = measureCurve(runs); !measured) return measured;
  std::size_t elements = 0;
  for (const std::string& name : m_inputs.floatingInputs()) elements += static_cast<std::size_t>(m_set.inputs.at(name).tensor.numel()) / m_set.samples.ids.size();
  const std::size_t some = std::clamp<std::size_t>(kMostDirections / std::max<std::size_t>(1, 2 * elements), 1, kMostWays);
  runs.beginStage("following gradients", 0);
  for (std::size_t first = 0; first < samples.size(); first += some) {
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(first), end = samples.begin() + static_cast<std::ptrdiff_t>(std::min(samples.size(), first + some));
    if (auto done = scanNearSome(runs, frame, {begin, end}, stop); !done) return done;
  }
  return base::success();
}

}  // namespace ulpscope::engine
