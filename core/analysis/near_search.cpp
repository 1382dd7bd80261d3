#include "core/analysis/near_search.h"

#include "core/analysis/float_steps.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::analysis {
namespace {

using session::kNoDecision;
using session::NearestFlip;
using session::PairAtPoint;

float triedStep(int i) { return static_cast<float>(std::pow(2.0, (i - kTriedSteps + 1) / 2.0)); }

// One run on one way: the first part known to decide otherwise than the start, and the last before it that is known not to. What the search
// of the other run looks at on that way may decide otherwise below what was taken for the last.
struct Bracket {
  std::size_t way;
  int PairAtPoint::*run;
  int own;
  float same = 0, other = 0;
  int to = kNoDecision;
  std::vector<float> notOtherwise = {};

  void take(float part, const LookedAt& looked) {
    const int decision = looked.pair.*run;
    if (decision == own || decision == kNoDecision) {
      notOtherwise.push_back(part);
      if (to == kNoDecision || part < other) same = std::max(same, part);
    } else if (to == kNoDecision || part < other) {
      other = part;
      to = decision;
      same = 0;
      for (const float known : notOtherwise)
        if (known < other) same = std::max(same, known);
    }
  }
  bool isOpen() const { return to != kNoDecision && !areNeighbours(same, other); }
};

std::vector<WayPoint> triedPoints(std::size_t ways) {
  std::vector<WayPoint> points;
  for (std::size_t way = 0; way < ways; ++way) {
    points.push_back({way, 0});
    for (int i = 0; i < kTriedSteps; ++i) points.push_back({way, triedStep(i)});
  }
  return points;
}

// Each open bracket's share of a batch.
std::vector<WayPoint> pointsWithin(const std::vector<Bracket>& brackets, std::size_t batch) {
  const auto open = static_cast<std::size_t>(std::count_if(brackets.begin(), brackets.end(), [](const Bracket& b) { return b.isOpen(); }));
  std::vector<WayPoint> points;
  for (const Bracket& b : brackets) {
    if (!b.isOpen()) continue;
    for (const float part : floatsBetween(b.same, b.other, std::max<std::size_t>(1, batch / open))) points.push_back({b.way, part});
  }
  return points;
}

void narrow(std::vector<Bracket>& brackets, const std::vector<WayPoint>& points, const std::vector<LookedAt>& looked) {
  std::vector<std::vector<std::size_t>> ofWay;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].way >= ofWay.size()) ofWay.resize(points[i].way + 1);
    ofWay[points[i].way].push_back(i);
  }
  for (Bracket& bracket : brackets) {
    if (bracket.way >= ofWay.size()) continue;
    for (const std::size_t i : ofWay[bracket.way]) bracket.take(points[i].part, looked[i]);
  }
}

NearestFlip flipOf(const Bracket& bracket) {
  if (bracket.to == kNoDecision) return {};
  return {true, static_cast<double>(bracket.other), std::nan(""), bracket.to};
}

}  // namespace

base::Result<std::vector<WayResult>> searchWays(std::size_t ways, std::size_t batch, const LookAtWays& lookAt) {
  const std::vector<WayPoint> tried = triedPoints(ways);
  auto looked = lookAt(tried);
  if (!looked) return looked.error();
  constexpr std::size_t kEach = kTriedSteps + 1;
  std::vector<Bracket> brackets;
  for (std::size_t way = 0; way < ways; ++way)
    for (const auto run : {&PairAtPoint::reference, &PairAtPoint::candidate})
      if (const int own = looked.value()[way * kEach].pair.*run; own != kNoDecision) brackets.push_back({way, run, own});
  narrow(brackets, tried, looked.value());
  for (std::vector<WayPoint> points = pointsWithin(brackets, batch); !points.empty(); points = pointsWithin(brackets, batch)) {
    const auto more = lookAt(points);
    if (!more) return more.error();
    narrow(brackets, points, more.value());
  }
  std::vector<WayResult> results(ways);
  for (std::size_t way = 0; way < ways; ++way) results[way].start = std::move(looked.value()[way * kEach]);
  for (const Bracket& bracket : brackets) (bracket.run == &PairAtPoint::reference ? results[bracket.way].reference : results[bracket.way].candidate) = flipOf(bracket);
  return results;
}

}  // namespace ulpscope::analysis
