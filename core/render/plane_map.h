// A scan of a plane as a picture: regions of decisions, the boundary of each run between them, and where the runs differ.
//
// Decisions are known at the grid's points alone. Between four of them a decision weighs what the bilinear weights of its points times
// their margins add up to, and the heaviest has the place. Between two points with margins m and n the boundary so lies at m / (m + n): for
// the scores of two classes, linear between the points, that is where they are equal.
#pragma once

#include "core/render/colors.h"
#include "core/render/scan_strip.h"
#include "core/render/tensor_map.h"
#include "core/session/scan.h"

#include <cstdint>
#include <vector>

namespace ulpscope::render {

// Places on the grid: i along u, j along v, from 0 to side - 1.
struct GridPlace {
  double i = 0, j = 0;
};
// A point without a decision has its own region, with the weight of a margin of 1.
int planeDecision(const session::PlaneScan& plane, RunSide side, const GridPlace& at);

// Straight pieces of the boundary, one or more a cell of the grid (marching squares); where more than two regions meet in a cell, from its
// crossed edges to their middle.
struct BoundaryPiece {
  GridPlace from, to;
};
std::vector<BoundaryPiece> planeBoundary(const session::PlaneScan& plane, RunSide side);

struct PlaneColors {
  std::vector<Rgb> decisions;  // by index in Scan::decisions
  Rgb none;                    // no decision
  Rgb flip, noise;             // hatching where the runs differ: beyond FP32's noise, and within it
};
// RGBA, row-major, v upwards: the first row is j = side - 1, the first column i = 0. Filled by the reference's decision; hatched where the
// candidate's is another one (both have one). A grid point that differs takes at least 3 px either way.
std::vector<std::uint8_t> planePixels(const session::PlaneScan& plane, const PixelSize& size, const PlaneColors& colors);

// u (or v) at a place on the grid, and the reverse.
double planeCoordinate(const session::PlaneScan& plane, double place);
double gridPlaceOf(const session::PlaneScan& plane, double coordinate);

}  // namespace ulpscope::render
