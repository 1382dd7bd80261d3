#include "core/render/tensor_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ulpscope::render {
namespace {

using analysis::CandidateView;
using analysis::ElementPair;
using analysis::ReferenceView;

constexpr int kHatchPeriod = 6;   // px, as people see them
constexpr double kOutlier = 256;  // times the typical magnitude

CellKind kindOf(double value) {
  if (std::isnan(value)) return CellKind::nan;
  if (std::isinf(value)) return value > 0 ? CellKind::plusInf : CellKind::minusInf;
  return CellKind::value;
}

Cell cellOf(const ElementPair& pair, MapSide side) {
  if (side != MapSide::difference) {
    const double value = side == MapSide::reference ? pair.reference : pair.candidate;
    return {kindOf(value), false, static_cast<float>(value)};
  }
  const bool isFinite = std::isfinite(pair.reference) && std::isfinite(pair.candidate);
  if (isFinite ? pair.difference == 0 : !analysis::isNonfiniteInOne(pair)) return {CellKind::exactZero, false, 0};
  return {kindOf(pair.difference), false, static_cast<float>(pair.difference)};
}

Rgb colorOf(const Cell& cell, const TensorColors& colors) {
  const SpecialColors special = specialColors(colors.theme);
  switch (cell.kind) {
    case CellKind::nan: return special.nan;
    case CellKind::plusInf: return special.plusInf;
    case CellKind::minusInf: return special.minusInf;
    case CellKind::exactZero: return special.exactZero;
    default: return colorAt(colors.map, colors.scale.position(cell.value));
  }
}

using Cells = std::array<HeatmapData, 3>;

// Neighbours in the picture that are neighbours in memory are widened together.
struct RunOfElements {
  CellIndex at;  // in elements
  std::int64_t element;
  TensorSlice::Run run;
};
void addRun(Cells& cells, std::int64_t block, const RunOfElements& from, const ReferenceView& reference, const CandidateView& candidate) {
  std::array<ElementPair, analysis::kPairChunk> line;
  const std::int64_t together = from.run.step == 1 ? analysis::kPairChunk : 1;
  const std::int64_t row = from.at.row / block;
  std::int64_t column = from.at.column / block, inCell = from.at.column % block;
  for (std::int64_t done = 0; done < from.run.count;) {
    const std::int64_t count = std::min(together, from.run.count - done);
    analysis::widenPairs(reference, candidate, from.element + done * from.run.step, count, line.data());
    for (std::int64_t i = 0; i < count; ++i) {
      for (const MapSide side : {MapSide::reference, MapSide::candidate, MapSide::difference})
        cells[static_cast<std::size_t>(side)].takeWorse(row, column, packed(cellOf(line[static_cast<std::size_t>(i)], side)), false);
      if (++inCell < block) continue;
      inCell = 0;
      ++column;
    }
    done += count;
  }
}

std::int64_t blockFor(const TensorSlice& slice, std::int64_t mostCells) {
  std::int64_t block = 1;
  const auto cells = [&] { return ((slice.rows() + block - 1) / block) * ((slice.columns() + block - 1) / block); };
  while (cells() > std::max<std::int64_t>(1, mostCells)) ++block;
  return block;
}

}  // namespace

ElementPair pairAt(const ReferenceView& reference, const CandidateView& candidate, std::int64_t element) {
  ElementPair pair;
  analysis::widenPairs(reference, candidate, element, 1, &pair);
  return pair;
}

TensorMaps tensorMaps(const TensorSlice& slice, const ReferenceView& reference, const CandidateView& candidate, std::int64_t mostCells) {
  TensorMaps maps;
  maps.block = blockFor(slice, mostCells);
  const std::int64_t rows = (slice.rows() + maps.block - 1) / maps.block, columns = (slice.columns() + maps.block - 1) / maps.block;
  Cells cells;
  for (HeatmapData& data : cells) data = HeatmapData(rows, columns);
  for (std::int64_t row = 0; row < slice.rows(); ++row)
    for (std::int64_t column = 0; column < slice.columns();) {
      const std::int64_t element = slice.elementAt(row, column);
      const TensorSlice::Run run = element < 0 ? TensorSlice::Run{1, 1} : slice.runAt(row, column);
      if (element >= 0) addRun(cells, maps.block, {{row, column}, element, run}, reference, candidate);
      column += run.count;
    }
  std::vector<std::int64_t> asGiven(static_cast<std::size_t>(columns));
  std::iota(asGiven.begin(), asGiven.end(), 0);
  for (std::size_t side = 0; side < cells.size(); ++side) maps.levels[side] = HeatmapLevels(std::make_shared<const HeatmapData>(std::move(cells[side])), asGiven);
  return maps;
}

std::int64_t elementOfCell(const TensorSlice& slice, const ReferenceView& reference, const CandidateView& candidate, const BlockCell& at) {
  std::int64_t chosen = -1;
  PackedCell worst = kPackedNotRun;
  for (std::int64_t row = at.cell.row * at.block; row < (at.cell.row + 1) * at.block; ++row)
    for (std::int64_t column = at.cell.column * at.block; column < (at.cell.column + 1) * at.block; ++column) {
      const std::int64_t element = slice.elementAt(row, column);
      if (element < 0) continue;
      const PackedCell cell = packed(cellOf(pairAt(reference, candidate, element), at.side));
      if (chosen >= 0 && cell <= worst) continue;
      chosen = element;
      worst = cell;
    }
  return chosen;
}

double ValueScale::position(double value) const {
  if (linear == 0) return std::clamp((value - low) / (high - low), 0.0, 1.0);
  const double from = symlog(low, linear), to = symlog(high, linear);
  return std::clamp((symlog(value, linear) - from) / (to - from), 0.0, 1.0);
}

ValueScale valueScale(double smallest, double largest, double typical) {
  if (std::isnan(smallest) || std::isnan(largest)) return {0, 1};
  const bool hasOutliers = std::max(std::fabs(smallest), std::fabs(largest)) > kOutlier * typical;
  if (smallest < largest) return {smallest, largest, hasOutliers ? typical : 0};
  const double around = smallest == 0 ? 1 : std::fabs(smallest) * 0.1;
  return {smallest - around, smallest + around};
}

ValueScale differenceScale(double largestMagnitude) {
  if (!(largestMagnitude > 0)) return {-1, 1};
  return {-largestMagnitude, largestMagnitude};
}

std::vector<std::uint8_t> tensorPixels(const HeatmapLevels& levels, const PixelSize& size, const TensorColors& colors) {
  const auto width = static_cast<std::size_t>(size.width);
  std::vector<std::uint8_t> rgba(width * static_cast<std::size_t>(size.height) * 4, 0);
  if (levels.isEmpty()) return rgba;
  Viewport view = wholeMap(levels.rows(), levels.columnCount(), size.width, size.height);
  view.pixelRatio = size.pixelRatio;
  const PooledCells cells = pooled(levels, view);
  const std::size_t period = static_cast<std::size_t>(kHatchPeriod) * static_cast<std::size_t>(std::max(1, size.pixelRatio));
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    if (cells.cells[i] == kPackedNotRun || cells.cells[i] == kPackedOutside) continue;
    const bool isHatch = cells.cells[i] == kPackedNan && (i % width + i / width) % period < period / 2;
    const Rgb color = isHatch ? Rgb{255, 255, 255} : colorOf(unpacked(cells.cells[i]), colors);
    std::uint8_t* p = &rgba[i * 4];
    p[0] = color.r;
    p[1] = color.g;
    p[2] = color.b;
    p[3] = 255;
  }
  return rgba;
}

}  // namespace ulpscope::render
