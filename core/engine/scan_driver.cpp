#include "core/engine/scan_driver.h"

#include "core/analysis/segment_search.h"
#include "core/base/clock.h"
#include "core/base/nearest_names.h"
#include "core/engine/run_frame.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace ulpscope::engine {
namespace {

using analysis::LookedAt;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr double kFlat = 1e-6;  // sine of the angle below which three samples lie on a line

std::vector<session::PairAtPoint*> pairsOf(session::Scan& scan) {
  std::vector<session::PairAtPoint*> pairs;
  if (scan.segment)
    for (auto* list : {&scan.segment->samples, &scan.segment->refined})
      for (session::ScanPoint& point : *list) pairs.push_back(&point.at);
  if (scan.plane)
    for (session::PairAtPoint& point : scan.plane->points) pairs.push_back(&point);
  return pairs;
}

std::vector<PointOnWay> pointsAt(const std::vector<float>& ts) {
  std::vector<PointOnWay> points;
  for (const float t : ts) points.push_back({0, {static_cast<double>(t)}});
  return points;
}

void withoutScores(session::PairAtPoint& pair) { pair.referenceScores = pair.candidateScores = {}; }

}  // namespace

Result<std::vector<std::int64_t>> ScanDriver::sampleNumbers() const {
  const std::vector<std::string>& all = m_set.samples.ids;
  std::vector<std::int64_t> numbers;
  for (const std::string& id : m_request.samples) {
    const auto at = std::find(all.begin(), all.end(), id);
    if (at == all.end()) return Error{ErrorKind::usage, "is no sample of the session", id, "the nearest are " + base::quotedChoice(base::nearestNames(id, all))};
    numbers.push_back(at - all.begin());
  }
  if (!m_request.samples.empty() || m_request.kind != session::ScanKind::near) return numbers;
  numbers.resize(all.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

Status ScanDriver::scanSegment(ScanRuns& runs, const std::vector<std::int64_t>& samples) {
  if (auto added = m_inputs.addTowards(samples); !added) return added;
  runs.beginStage("scanning", m_request.steps);
  bool gridDone = false;
  const analysis::LookAt lookAt = [&](const std::vector<float>& ts) {
    if (std::exchange(gridDone, true)) runs.beginStage("looking closely", static_cast<std::int64_t>(ts.size()));
    return runs.look(pointsAt(ts));
  };
  const analysis::NoiseAt noiseAt = [&](const std::vector<float>& ts) { return runs.lookAtNoise(pointsAt(ts)); };
  const analysis::SegmentPlan plan{m_request.steps, static_cast<std::size_t>(m_settings.batchSize), m_settings.decision.errorsToFlip()};
  auto found = analysis::searchSegment(plan, lookAt, m_request.noiseFloor ? noiseAt : analysis::NoiseAt());
  if (!found) return found.error();
  m_scan.segment = std::move(found.value().scan);
  m_scan.segment->length = std::sqrt(m_inputs.innerProduct(0, 0));
  for (std::string& warning : found.value().warnings) m_scan.warnings.push_back(std::move(warning));
  return base::success();
}

Status ScanDriver::scanPlane(ScanRuns& runs, const std::vector<std::int64_t>& samples) {
  if (auto added = m_inputs.addTowards(samples); !added) return added;
  session::PlaneScan plane;
  plane.side = m_request.grid;
  plane.lowest = -m_request.margin;
  plane.highest = 1 + m_request.margin;
  const double ab = m_inputs.innerProduct(0, 0), ac = m_inputs.innerProduct(1, 1), both = m_inputs.innerProduct(0, 1);
  plane.lengthAB = std::sqrt(ab);
  plane.lengthAC = std::sqrt(ac);
  const double cosine = std::clamp(both / (plane.lengthAB * plane.lengthAC), -1.0, 1.0);
  if (ab == 0 || ac == 0 || !(1 - cosine * cosine > kFlat * kFlat))
    return Error{ErrorKind::usage, "the three samples lie on one line, so they span no plane", "--plane " + fmt::format("{}", fmt::join(m_request.samples, " ")), "choose three others, or scan the line with --from and --to"};
  plane.angleDegrees = std::acos(cosine) * 180 / std::numbers::pi;
  std::vector<PointOnWay> points;
  const auto at = [&](std::int64_t i) { return plane.lowest + static_cast<double>(i) * (plane.highest - plane.lowest) / static_cast<double>(plane.side - 1); };
  for (std::int64_t v = 0; v < plane.side; ++v)
    for (std::int64_t u = 0; u < plane.side; ++u) points.push_back({0, {at(u), at(v)}});
  runs.beginStage("scanning", plane.side * plane.side);
  auto looked = runs.look(points);
  if (!looked) return looked.error();
  const auto noise = m_request.noiseFloor ? runs.lookAtNoise(points) : Result<std::vector<analysis::NoiseAtPoint>>(std::vector<analysis::NoiseAtPoint>());
  if (!noise) return noise.error();
  for (std::size_t i = 0; i < looked->size(); ++i) {
    LookedAt& point = looked.value()[i];
    if (!noise->empty()) point.take(noise.value()[i], m_settings.decision.errorsToFlip());
    const session::PairAtPoint& pair = point.pair;
    plane.decided += pair.reference != session::kNoDecision && pair.candidate != session::kNoDecision;
    plane.flips += pair.differs();
    plane.flipsWithinNoise += pair.differs() && pair.withinNoise;
    plane.points.push_back(std::move(point.pair));
  }
  m_scan.plane = std::move(plane);
  return base::success();
}

void ScanDriver::finish(const ScanRuns& runs) {
  m_scan.decisions = runs.reader().decisions();
  m_scan.noise = m_request.kind == session::ScanKind::near ? session::ScanNoise{"not measured around samples", 0} : runs.noise();
  m_scan.evaluations = runs.evaluations();
  m_scan.inputs = m_inputs.described();
  if (m_scan.near) {  // also where no gradient led anywhere
    const std::vector<std::string> floating = m_inputs.floatingInputs();
    for (session::ScannedInput& input : m_scan.inputs) input.moves = std::find(floating.begin(), floating.end(), input.name) != floating.end();
  }
  std::vector<session::PairAtPoint*> pairs = pairsOf(m_scan);
  if (!runs.reader().keepsScores())
    for (session::PairAtPoint* pair : pairs) withoutScores(*pair);
  m_scan.classes = analysis::trimScores(pairs, m_settings.decision);
}

Result<session::Scan> ScanDriver::run(ReferenceSet set, int sampleAxis, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  m_set = std::move(set);
  auto regions = RegionSet::make(m_settings.fp32, m_settings.disable, m_model.info, m_model.ops);
  if (!regions) return regions.error();
  m_regions = std::move(regions).value();
  const auto samples = sampleNumbers();
  if (!samples) return samples.error();
  m_scan.createdUtc = base::utcNow();
  m_scan.kind = m_request.kind;
  m_scan.sampleIds = m_request.samples;
  m_scan.settings = m_settings;
  m_scan.policyTable = m_table.name();
  m_scan.libtorchVersion = TORCH_VERSION;
  m_scan.threads = kThreadsPerRun;
  const ScanFrame frame{m_model, m_settings, m_table, m_regions, m_set, m_inputs, sampleAxis};
  ScanRuns runs(frame, m_progress, stop);
  const Status scanned = m_request.kind == session::ScanKind::segment ? scanSegment(runs, samples.value())
                         : m_request.kind == session::ScanKind::plane ? scanPlane(runs, samples.value())
                                                                      : scanNear(runs, frame, samples.value(), stop);
  if (!scanned) return scanned.error();
  if (auto repeats = runs.checkRepeats(); !repeats) return repeats.error();
  finish(runs);
  m_scan.elapsedSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(m_scan);
}

}  // namespace ulpscope::engine
