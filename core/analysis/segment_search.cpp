#include "core/analysis/segment_search.h"

#include "core/analysis/float_steps.h"
#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ulpscope::analysis {
namespace {

using base::Status;
using session::CloseLook;
using session::kNoDecision;
using session::PairAtPoint;
using session::Stretch;

constexpr std::size_t kMostRefined = 50'000;          // points beside the grid; a chaotic model has crossings without end
constexpr std::int64_t kMostCloseLookPoints = 16'384;  // of all stretches
constexpr int kEdgeRounds = 4;                         // to find where a stretch ends

bool differs(const LookedAt& a, const LookedAt& b) { return a.pair.reference != b.pair.reference || a.pair.candidate != b.pair.candidate || a.noise != b.noise; }

// A stretch whose points all may flip, between two that may not (or the ends).
struct Zone {
  float outerFrom = 0, from = 0, to = 0, outerTo = 0;
};

class Search {
 public:
  Search(const SegmentPlan& plan, const LookAt& lookAt, const NoiseAt& noiseAt) : m_plan(plan), m_lookAt(lookAt), m_noiseAt(noiseAt) {}

  base::Result<SegmentResult> run() {
    for (std::int64_t i = 0; i < m_plan.steps; ++i) m_grid.push_back(static_cast<float>(static_cast<double>(i) / static_cast<double>(m_plan.steps - 1)));
    m_grid.erase(std::unique(m_grid.begin(), m_grid.end()), m_grid.end());
    if (auto looked = look(m_grid); !looked) return looked.error();
    for (const auto& step : {&Search::refine, &Search::findEdges, &Search::lookClosely, &Search::measureNoise})
      if (auto done = (this->*step)(); !done) return done.error();
    return findings();
  }

 private:
  const SegmentPlan& m_plan;
  const LookAt& m_lookAt;
  const NoiseAt& m_noiseAt;
  std::vector<float> m_grid;
  SegmentPoints m_points;
  std::vector<Stretch> m_stretches;  // where the candidate may flicker
  std::vector<CloseLook> m_closeLooks;
  bool m_gaveUp = false;

  Status look(std::vector<float> ts) {
    std::sort(ts.begin(), ts.end());
    ts.erase(std::unique(ts.begin(), ts.end()), ts.end());
    std::erase_if(ts, [&](float t) { return m_points.count(t) > 0; });
    if (ts.empty()) return base::success();
    auto looked = m_lookAt(ts);
    if (!looked) return looked.error();
    for (std::size_t i = 0; i < ts.size(); ++i) m_points.emplace(ts[i], std::move(looked.value()[i]));
    return base::success();
  }

  std::vector<Stretch> gaps() const {
    std::vector<Stretch> found;
    for (auto a = m_points.begin(), b = std::next(a); b != m_points.end(); ++a, ++b)
      if (differs(a->second, b->second) && !areNeighbours(a->first, b->first)) found.push_back({a->first, b->first});
    return found;
  }

  Status lookBetween(const std::vector<Stretch>& open) {
    const std::size_t each = std::max<std::size_t>(1, m_plan.batch / open.size());
    std::vector<float> ts;
    for (const Stretch& gap : open)
      for (const float t : floatsBetween(gap.from, gap.to, each)) ts.push_back(t);
    return look(std::move(ts));
  }

  bool hasEnough() {
    m_gaveUp = m_gaveUp || m_points.size() > m_grid.size() + kMostRefined;
    return m_gaveUp;
  }

  Status refine() {
    for (std::vector<Stretch> open = gaps(); !open.empty() && !hasEnough(); open = gaps())
      if (auto looked = lookBetween(open); !looked) return looked;
    return base::success();
  }

  // The other runs' crossings are known by now, and FP32's in another order are next to them: few points are new.
  Status measureNoise() {
    if (!m_noiseAt) return base::success();
    for (;;) {
      std::vector<float> ts;
      for (const auto& [t, looked] : m_points)
        if (!looked.measured) ts.push_back(t);
      const auto found = m_noiseAt(ts);
      if (!found) return found.error();
      if (found->empty()) return base::success();  // there is none after all
      for (std::size_t i = 0; i < ts.size(); ++i) m_points.at(ts[i]).take(found.value()[i], m_plan.errorsToFlip);
      const std::vector<Stretch> open = gaps();
      if (open.empty() || hasEnough()) return base::success();
      if (auto looked = lookBetween(open); !looked) return looked;
    }
  }

  // An infinity in one run alone says nothing of how far others may be off.
  static double errorOf(SegmentPoints::const_iterator at) {
    const PairAtPoint& pair = at->second.pair;
    return pair.reference == kNoDecision || pair.candidate == kNoDecision ? 0 : pair.maxError;
  }

  // The error there: the largest of its neighbours' too, since rounding errors go up and down.
  double errorAround(SegmentPoints::const_iterator at) const {
    double error = errorOf(at);
    if (at != m_points.begin()) error = std::max(error, errorOf(std::prev(at)));
    if (std::next(at) != m_points.end()) error = std::max(error, errorOf(std::next(at)));
    return error;
  }

  bool mayFlip(SegmentPoints::const_iterator at) const {
    const PairAtPoint& pair = at->second.pair;
    if (m_plan.errorsToFlip == 0 || pair.reference == kNoDecision || pair.candidate == kNoDecision) return false;
    return pair.referenceMargin <= m_plan.errorsToFlip * errorAround(at);
  }

  static bool changes(const LookedAt& a, const LookedAt& b) {
    const auto between = [](int from, int to) { return from != to && from != kNoDecision && to != kNoDecision; };
    return between(a.pair.reference, b.pair.reference) || between(a.pair.candidate, b.pair.candidate);
  }

  struct Run {
    std::size_t first = 0, last = 0;  // numbers of points, by t
  };

  // Marked points, next to each other.
  std::vector<Run> markedRuns() const {
    std::vector<Run> runs;
    std::size_t i = 0;
    bool inside = false;
    for (auto at = m_points.begin(); at != m_points.end(); ++at, ++i) {
      const auto next = std::next(at);
      const bool changesBefore = at != m_points.begin() && changes(std::prev(at)->second, at->second);
      const bool marked = mayFlip(at) || changesBefore || (next != m_points.end() && changes(at->second, next->second));
      if (marked && !inside) runs.push_back({i, i});
      if (marked) runs.back().last = i;
      inside = marked;
    }
    return runs;
  }

  // The largest error within tells how far its neighbours may flip as well.
  void grow(Run& run, const std::vector<SegmentPoints::const_iterator>& sorted) const {
    double error = 0;
    std::size_t seen = run.first;
    const auto reaches = [&](std::size_t i) {
      const PairAtPoint& pair = sorted[i]->second.pair;
      return pair.reference != kNoDecision && pair.candidate != kNoDecision && pair.referenceMargin <= m_plan.errorsToFlip * error;
    };
    for (bool grew = true; grew;) {
      for (; seen <= run.last; ++seen) error = std::max(error, errorOf(sorted[seen]));
      const Run before = run;
      while (run.first > 0 && reaches(run.first - 1)) error = std::max(error, errorOf(sorted[--run.first]));
      while (run.last + 1 < sorted.size() && reaches(run.last + 1)) error = std::max(error, errorOf(sorted[++run.last]));
      seen = run.last + 1;
      grew = run.first != before.first || run.last != before.last;
    }
  }

  std::vector<Zone> zones() const {
    std::vector<SegmentPoints::const_iterator> sorted;
    for (auto at = m_points.begin(); at != m_points.end(); ++at) sorted.push_back(at);
    std::vector<Zone> found;
    std::size_t end = 0;  // of the zone before
    for (Run run : markedRuns()) {
      if (m_plan.errorsToFlip > 0) grow(run, sorted);
      const Zone zone{sorted[run.first > 0 ? run.first - 1 : 0]->first, sorted[run.first]->first, sorted[run.last]->first, sorted[std::min(run.last + 1, sorted.size() - 1)]->first};
      if (!found.empty() && run.first <= end + 1) {
        found.back().from = std::min(found.back().from, zone.from);
        found.back().outerFrom = std::min(found.back().outerFrom, zone.outerFrom);
        found.back().to = std::max(found.back().to, zone.to);
        found.back().outerTo = std::max(found.back().outerTo, zone.outerTo);
      } else {
        found.push_back(zone);
      }
      end = std::max(end, run.last);
    }
    return found;
  }

  // Without margins nothing tells how far to look: from the grid's point before a change to the one after.
  std::vector<Zone> widened(const std::vector<Zone>& zones) const {
    std::vector<Zone> wide;
    for (Zone zone : zones) {
      zone.outerFrom = *std::prev(std::upper_bound(m_grid.begin(), m_grid.end(), zone.outerFrom));
      zone.outerTo = *std::lower_bound(m_grid.begin(), m_grid.end(), zone.outerTo);
      if (!wide.empty() && zone.outerFrom < wide.back().outerTo) wide.back().outerTo = std::max(wide.back().outerTo, zone.outerTo);
      else wide.push_back(zone);
    }
    return wide;
  }

  // Away from `core`, each half as far as the one before: where a stretch ends is not known to the order of magnitude.
  void addTowards(float core, float outer, std::size_t count, std::vector<float>& ts) const {
    double distance = static_cast<double>(outer) - static_cast<double>(core);
    for (std::size_t i = 0; i < count; ++i) {
      distance /= 2;
      const float t = static_cast<float>(static_cast<double>(core) + distance);
      if (t == core) return;
      if (t != outer) ts.push_back(t);
    }
  }

  Status findEdges() {
    if (m_plan.errorsToFlip == 0) return base::success();  // no margins tell where it ends
    for (int round = 0; round < kEdgeRounds; ++round) {
      const std::vector<Zone> all = zones();
      std::vector<float> ts;
      const std::size_t each = std::max<std::size_t>(4, m_plan.batch / std::max<std::size_t>(1, 2 * all.size()));
      for (const Zone& zone : all) {
        const double width = static_cast<double>(zone.to) - static_cast<double>(zone.from);
        if (static_cast<double>(zone.from) - static_cast<double>(zone.outerFrom) > width) addTowards(zone.from, zone.outerFrom, each, ts);
        if (static_cast<double>(zone.outerTo) - static_cast<double>(zone.to) > width) addTowards(zone.to, zone.outerTo, each, ts);
      }
      std::erase_if(ts, [&](float t) { return m_points.count(t) > 0; });
      if (ts.empty()) break;
      if (auto looked = look(std::move(ts)); !looked) return looked;
      if (auto refined = refine(); !refined) return refined;
    }
    return base::success();
  }

  std::int64_t closeLookPoints(const Zone& zone, std::size_t zoneCount) const {
    const double width = static_cast<double>(zone.outerTo) - static_cast<double>(zone.outerFrom);
    const auto dense = static_cast<std::int64_t>(2 * width * static_cast<double>(m_plan.steps - 1)) + 1;
    const std::int64_t most = std::max<std::int64_t>(33, kMostCloseLookPoints / static_cast<std::int64_t>(zoneCount));
    return std::max(std::min(kCloseLookPoints, most), std::min(dense, most));
  }

  // Evenly over the stretch, both ends among them.
  void addLook(const Stretch& stretch, std::int64_t points, std::vector<float>& ts) {
    std::vector<float> own;
    for (std::int64_t i = 0; i < points; ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(points - 1);
      own.push_back(static_cast<float>(static_cast<double>(stretch.from) + part * stretch.width()));
    }
    own.erase(std::unique(own.begin(), own.end()), own.end());
    m_closeLooks.push_back({stretch, static_cast<std::int64_t>(own.size())});
    ts.insert(ts.end(), own.begin(), own.end());
  }

  Status lookClosely() {
    const std::vector<Zone> all = m_plan.errorsToFlip == 0 ? widened(zones()) : zones();
    std::vector<float> ts;
    for (const Zone& zone : all) {
      m_stretches.push_back({zone.outerFrom, zone.outerTo});
      addLook(m_stretches.back(), closeLookPoints(zone, all.size()), ts);
    }
    if (auto looked = look(std::move(ts)); !looked) return looked;
    if (auto refined = refine(); !refined) return refined;
    return lookAtEdges();
  }

  // Towards its ends flicker comes in ever shorter pieces: beyond the changes found so far once more, as many points on what is left.
  Status lookAtEdges() {
    std::vector<float> ts;
    for (const Stretch& stretch : m_stretches)
      for (const session::Flicker& flicker : flickerIn(m_points, stretch)) {
        addLook({stretch.from, flicker.at.from}, kCloseLookPoints, ts);
        addLook({flicker.at.to, stretch.to}, kCloseLookPoints, ts);
      }
    if (auto looked = look(std::move(ts)); !looked) return looked;
    return refine();
  }

  SegmentResult findings() {
    SegmentResult result;
    session::SegmentScan& scan = result.scan;
    scan.referenceCrossings = crossingsOf(m_points, &PairAtPoint::reference);
    scan.candidateCrossings = crossingsOf(m_points, &PairAtPoint::candidate);
    scan.noiseCrossings = noiseCrossingsOf(m_points);
    scan.disagreement = disagreementOf(m_points);
    scan.referenceNoDecision = noDecisionOf(m_points, &PairAtPoint::reference);
    scan.candidateNoDecision = noDecisionOf(m_points, &PairAtPoint::candidate);
    for (const Stretch& stretch : m_stretches)
      for (const session::Flicker& flicker : flickerIn(m_points, stretch)) scan.flicker.push_back(flicker);
    scan.closeLooks = std::move(m_closeLooks);
    if (m_gaveUp)
      result.warnings.push_back(base::groupedInteger(static_cast<std::int64_t>(kMostRefined)) + " points beside the grid were looked at and decisions still change between them: not every crossing is known to its last float32 step");
    auto onGrid = m_grid.begin();
    for (auto& [t, looked] : m_points) {
      const bool isGrid = onGrid != m_grid.end() && *onGrid == t;
      if (isGrid) ++onGrid;
      (isGrid ? scan.samples : scan.refined).push_back({t, std::move(looked.pair)});
    }
    return result;
  }
};

}  // namespace

base::Result<SegmentResult> searchSegment(const SegmentPlan& plan, const LookAt& lookAt, const NoiseAt& noiseAt) { return Search(plan, lookAt, noiseAt).run(); }

}  // namespace ulpscope::analysis
