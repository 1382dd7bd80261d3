#include "core/analysis/segment_findings.h"

#include <iterator>
#include <set>

namespace ulpscope::analysis {
namespace {

using session::Crossing;
using session::kNoDecision;
using session::PairAtPoint;
using session::Stretch;

template <typename DecisionOf>
std::vector<Crossing> crossings(const SegmentPoints& points, const DecisionOf& decisionOf) {
  std::vector<Crossing> found;
  if (points.empty()) return found;
  for (auto before = points.begin(), at = std::next(before); at != points.end(); ++before, ++at) {
    const int from = decisionOf(before->second), to = decisionOf(at->second);
    if (from != to && from != kNoDecision && to != kNoDecision) found.push_back({at->first, before->first, from, to});
  }
  return found;
}

// The stretches of points that hold, and what `begin` and `next` make of their first and further points.
template <typename Holds, typename Begin, typename Next>
void forEachStretch(const SegmentPoints& points, const Holds& holds, const Begin& begin, const Next& next) {
  bool inside = false;
  for (const auto& [t, looked] : points) {
    const bool now = holds(looked);
    if (now && !inside) begin(t, looked);
    if (now || inside) next(t, looked, now);
    inside = now;
  }
}

// How often a run changes, and comes back to what it had left.
struct Changes {
  std::int64_t count = 0, returns = 0;
  float first = 0, last = 0;
};

Changes changesIn(const SegmentPoints& points, const Stretch& stretch, int PairAtPoint::*run) {
  Changes changes;
  std::set<int> had;
  int before = kNoDecision;
  for (auto at = points.lower_bound(stretch.from); at != points.end() && at->first <= stretch.to; ++at) {
    const int now = at->second.pair.*run;
    if (now == kNoDecision || now == before) continue;
    if (before != kNoDecision) {
      if (++changes.count == 1) changes.first = at->first;
      changes.last = at->first;
      changes.returns += had.count(now) > 0;
    }
    had.insert(now);
    before = now;
  }
  return changes;
}

}  // namespace

std::vector<Crossing> crossingsOf(const SegmentPoints& points, int PairAtPoint::*run) {
  return crossings(points, [run](const LookedAt& looked) { return looked.pair.*run; });
}

std::vector<Crossing> noiseCrossingsOf(const SegmentPoints& points) {
  return crossings(points, [](const LookedAt& looked) { return looked.noise; });
}

std::vector<session::Disagreement> disagreementOf(const SegmentPoints& points) {
  std::vector<session::Disagreement> found;
  const auto begin = [&](float t, const LookedAt& looked) { found.push_back({{t, t}, looked.pair.reference, looked.pair.candidate, true}); };
  const auto next = [&](float t, const LookedAt& looked, bool within) {
    found.back().at.to = t;
    if (within) found.back().withinNoise = found.back().withinNoise && looked.pair.withinNoise;
  };
  forEachStretch(points, [](const LookedAt& looked) { return looked.pair.differs(); }, begin, next);
  return found;
}

std::vector<Stretch> noDecisionOf(const SegmentPoints& points, int PairAtPoint::*run) {
  std::vector<Stretch> found;
  forEachStretch(points, [run](const LookedAt& looked) { return looked.pair.*run == kNoDecision; }, [&](float t, const LookedAt&) { found.push_back({t, t}); },
                 [&](float t, const LookedAt&, bool) { found.back().to = t; });
  return found;
}

std::vector<session::Flicker> flickerIn(const SegmentPoints& points, const Stretch& stretch) {
  const Changes reference = changesIn(points, stretch, &PairAtPoint::reference), candidate = changesIn(points, stretch, &PairAtPoint::candidate);
  constexpr std::int64_t kFewestChanges = 3;  // there, back, and there again: twice is a pocket of disagreement
  if (candidate.count < kFewestChanges || candidate.returns <= reference.returns) return {};
  return {{{candidate.first, candidate.last}, candidate.count, reference.count}};
}

}  // namespace ulpscope::analysis
