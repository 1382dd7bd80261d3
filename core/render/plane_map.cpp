#include "core/render/plane_map.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ulpscope::render {
namespace {

using session::PairAtPoint;
using session::PlaneScan;

constexpr int kHatchPeriod = 6, kHatchLine = 2;  // px
constexpr int kLeastMark = 3;                    // px

double lastOf(const PlaneScan& plane) { return static_cast<double>(std::max<std::int64_t>(1, plane.side - 1)); }

struct Corner {
  int decision = session::kNoDecision;
  double margin = 1;
};

Corner cornerOf(const PairAtPoint& point, RunSide side) {
  const int decision = side == RunSide::reference ? point.reference : point.candidate;
  const double margin = side == RunSide::reference ? point.referenceMargin : point.candidateMargin;
  if (decision == session::kNoDecision || std::isnan(margin)) return {decision, 1};
  return {decision, std::min(margin, 1e300)};  // +inf: a rule without margins
}

const PairAtPoint& pointAt(const PlaneScan& plane, std::int64_t i, std::int64_t j) { return plane.points[static_cast<std::size_t>(j * plane.side + i)]; }

// A cell of the grid: its corners from (i, j) on, anticlockwise.
struct Cell {
  std::int64_t i = 0, j = 0;
  std::array<Corner, 4> corners;
};
constexpr std::array<std::array<int, 2>, 4> kCornerSteps{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};

Cell cellAt(const PlaneScan& plane, RunSide side, std::int64_t i, std::int64_t j) {
  Cell cell{i, j, {}};
  for (std::size_t c = 0; c < 4; ++c) cell.corners[c] = cornerOf(pointAt(plane, std::min(i + kCornerSteps[c][0], plane.side - 1), std::min(j + kCornerSteps[c][1], plane.side - 1)), side);
  return cell;
}

int heaviest(const Cell& cell, double x, double y) {
  const std::array<double, 4> shares{(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y};
  int best = cell.corners[0].decision;
  double most = -1;
  for (std::size_t c = 0; c < 4; ++c) {
    double weight = 0;
    for (std::size_t other = 0; other < 4; ++other)
      if (cell.corners[other].decision == cell.corners[c].decision) weight += shares[other] * cell.corners[other].margin;
    // Two points with a margin of 0, ties, meet half-way.
    if (weight < most || (weight == most && shares[c] <= 0.5)) continue;
    most = weight;
    best = cell.corners[c].decision;
  }
  return best;
}

// Where the edge from corner `c` to the next is crossed.
GridPlace crossingOf(const Cell& cell, std::size_t c) {
  const std::size_t next = (c + 1) % 4;
  const double m = cell.corners[c].margin, n = cell.corners[next].margin;
  const double share = m + n > 0 ? m / (m + n) : 0.5;
  const auto along = [&](int axis) { return kCornerSteps[c][static_cast<std::size_t>(axis)] + share * (kCornerSteps[next][static_cast<std::size_t>(axis)] - kCornerSteps[c][static_cast<std::size_t>(axis)]); };
  return {static_cast<double>(cell.i) + along(0), static_cast<double>(cell.j) + along(1)};
}

// Two regions that both come twice: which of them goes through the middle tells which crossings belong together.
void addSaddle(const Cell& cell, const std::array<GridPlace, 4>& crossings, std::vector<BoundaryPiece>& pieces) {
  const bool joinsFirst = heaviest(cell, 0.5, 0.5) == cell.corners[0].decision;
  const std::array<std::size_t, 4> ends = joinsFirst ? std::array<std::size_t, 4>{0, 1, 2, 3} : std::array<std::size_t, 4>{3, 0, 1, 2};
  pieces.push_back({crossings[ends[0]], crossings[ends[1]]});
  pieces.push_back({crossings[ends[2]], crossings[ends[3]]});
}

void addPieces(const Cell& cell, std::vector<BoundaryPiece>& pieces) {
  std::vector<GridPlace> crossings;
  for (std::size_t c = 0; c < 4; ++c)
    if (cell.corners[c].decision != cell.corners[(c + 1) % 4].decision) crossings.push_back(crossingOf(cell, c));
  if (crossings.empty()) return;
  if (crossings.size() == 2) return pieces.push_back({crossings[0], crossings[1]});
  const auto& k = cell.corners;
  if (crossings.size() == 4 && k[0].decision == k[2].decision && k[1].decision == k[3].decision) return addSaddle(cell, {crossings[0], crossings[1], crossings[2], crossings[3]}, pieces);
  GridPlace middle;
  for (const GridPlace& at : crossings) {
    middle.i += at.i / static_cast<double>(crossings.size());
    middle.j += at.j / static_cast<double>(crossings.size());
  }
  for (const GridPlace& at : crossings) pieces.push_back({at, middle});
}

class PlanePainter {
 public:
  PlanePainter(const PlaneScan& plane, const PixelSize& size, const PlaneColors& colors)
      : m_plane(plane), m_width(size.width * size.pixelRatio), m_height(size.height * size.pixelRatio), m_ratio(size.pixelRatio), m_colors(colors),
        m_rgba(static_cast<std::size_t>(m_width) * static_cast<std::size_t>(m_height) * 4, 255) {}

  std::vector<std::uint8_t> paint() {
    for (int y = 0; y < m_height; ++y)
      for (int x = 0; x < m_width; ++x) set(x, y, colorAt(x, y));
    for (std::int64_t j = 0; j < m_plane.side; ++j)
      for (std::int64_t i = 0; i < m_plane.side; ++i)
        if (const PairAtPoint& point = pointAt(m_plane, i, j); point.differs()) mark(i, j, point.withinNoise ? m_colors.noise : m_colors.flip);
    return std::move(m_rgba);
  }

 private:
  double last() const { return lastOf(m_plane); }
  GridPlace placeOf(int x, int y) const { return {last() * (x + 0.5) / m_width, last() * (m_height - y - 0.5) / m_height}; }
  void set(int x, int y, Rgb color) {
    if (x < 0 || y < 0 || x >= m_width || y >= m_height) return;
    std::uint8_t* at = &m_rgba[(static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width) + static_cast<std::size_t>(x)) * 4];
    at[0] = color.r, at[1] = color.g, at[2] = color.b;
  }
  Rgb colorAt(int x, int y) const {
    const GridPlace at = placeOf(x, y);
    const int reference = planeDecision(m_plane, RunSide::reference, at), candidate = planeDecision(m_plane, RunSide::candidate, at);
    const bool differs = reference != session::kNoDecision && candidate != session::kNoDecision && reference != candidate;
    if (differs && (x + y) / m_ratio % kHatchPeriod < kHatchLine) return nearest(at).withinNoise ? m_colors.noise : m_colors.flip;
    return reference < 0 ? m_colors.none : m_colors.decisions[static_cast<std::size_t>(reference)];
  }
  const PairAtPoint& nearest(const GridPlace& at) const { return pointAt(m_plane, std::llround(at.i), std::llround(at.j)); }
  void mark(std::int64_t i, std::int64_t j, Rgb color) {
    const int side = kLeastMark * m_ratio;
    const auto from = [&](std::int64_t place, int length) { return std::clamp(static_cast<int>(std::lround(static_cast<double>(place) / last() * length)) - side / 2, 0, std::max(0, length - side)); };
    const int left = from(i, m_width), top = from(m_plane.side - 1 - j, m_height);
    for (int y = top; y < top + side; ++y)
      for (int x = left; x < left + side; ++x) set(x, y, color);
  }

  const PlaneScan& m_plane;
  int m_width, m_height, m_ratio;
  const PlaneColors& m_colors;
  std::vector<std::uint8_t> m_rgba;
};

}  // namespace

int planeDecision(const PlaneScan& plane, RunSide side, const GridPlace& at) {
  const auto cell = [&](double place) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(place)), 0, std::max<std::int64_t>(0, plane.side - 2)); };
  const std::int64_t i = cell(at.i), j = cell(at.j);
  return heaviest(cellAt(plane, side, i, j), at.i - static_cast<double>(i), at.j - static_cast<double>(j));
}

std::vector<BoundaryPiece> planeBoundary(const PlaneScan& plane, RunSide side) {
  std::vector<BoundaryPiece> pieces;
  for (std::int64_t j = 0; j + 1 < plane.side; ++j)
    for (std::int64_t i = 0; i + 1 < plane.side; ++i) addPieces(cellAt(plane, side, i, j), pieces);
  return pieces;
}

std::vector<std::uint8_t> planePixels(const PlaneScan& plane, const PixelSize& size, const PlaneColors& colors) { return PlanePainter(plane, size, colors).paint(); }

double planeCoordinate(const PlaneScan& plane, double place) { return plane.lowest + place * (plane.highest - plane.lowest) / lastOf(plane); }

double gridPlaceOf(const PlaneScan& plane, double coordinate) { return (coordinate - plane.lowest) / (plane.highest - plane.lowest) * lastOf(plane); }

}  // namespace ulpscope::render
