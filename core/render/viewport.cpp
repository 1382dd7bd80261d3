#include "core/render/viewport.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::render {
namespace {

constexpr double kFewestCells = 2;

struct Interval {
  double first, last;
};

Interval kept(Interval interval, double count) {
  const double span = std::clamp(interval.last - interval.first, std::min(kFewestCells, count), count);
  const double first = std::clamp(interval.first, 0.0, count - span);
  return {first, first + span};
}

Interval zoomedInterval(Interval interval, double factor, double share, double count) {
  const double span = interval.last - interval.first;
  const double at = interval.first + share * span;
  const double newSpan = std::clamp(span / factor, std::min(kFewestCells, count), count);
  const double first = at - share * newSpan;
  return kept({first, first + newSpan}, count);
}

Viewport with(Viewport viewport, Interval rows, Interval columns) {
  viewport.firstRow = rows.first;
  viewport.lastRow = rows.last;
  viewport.firstColumn = columns.first;
  viewport.lastColumn = columns.last;
  return viewport;
}

Interval reached(Interval interval, double cell) {
  if (cell < interval.first) return {cell, cell + interval.last - interval.first};
  if (cell + 1 > interval.last) return {cell + 1 - (interval.last - interval.first), cell + 1};
  return interval;
}

// 0 to high in four or five steps.
std::vector<double> linearTicks(double high) {
  const double decade = std::pow(10.0, std::floor(std::log10(high) + 1e-9));
  const double digit = high / decade;  // 1, 2 or 5
  const int steps = digit < 1.5 || digit > 4 ? 5 : 4;
  std::vector<double> ticks;
  for (int i = 0; i <= steps; ++i) ticks.push_back(high * i / steps);
  return ticks;
}

}  // namespace

Viewport wholeMap(std::int64_t rows, std::int64_t columns, int width, int height) {
  return {.firstRow = 0, .lastRow = static_cast<double>(std::max<std::int64_t>(rows, 1)), .firstColumn = 0,
          .lastColumn = static_cast<double>(std::max<std::int64_t>(columns, 1)), .width = std::max(1, width), .height = std::max(1, height)};
}

std::optional<CellIndex> cellAt(const Viewport& v, double x, double y, std::int64_t rows, std::int64_t columns) {
  if (x < 0 || y < 0 || x >= v.width || y >= v.height) return std::nullopt;
  const CellIndex cell{static_cast<std::int64_t>(std::floor(v.firstRow + y * (v.lastRow - v.firstRow) / v.height)),
                       static_cast<std::int64_t>(std::floor(v.firstColumn + x * (v.lastColumn - v.firstColumn) / v.width))};
  if (cell.row < 0 || cell.column < 0 || cell.row >= rows || cell.column >= columns) return std::nullopt;
  return cell;
}

PixelRect cellRect(const Viewport& v, CellIndex cell) {
  const double width = v.width / (v.lastColumn - v.firstColumn);
  const double height = v.height / (v.lastRow - v.firstRow);
  return {(static_cast<double>(cell.column) - v.firstColumn) * width, (static_cast<double>(cell.row) - v.firstRow) * height, width, height};
}

Viewport zoomed(const Viewport& v, double factor, double x, double y, std::int64_t rows, std::int64_t columns) {
  return with(v, zoomedInterval({v.firstRow, v.lastRow}, factor, y / v.height, static_cast<double>(rows)),
              zoomedInterval({v.firstColumn, v.lastColumn}, factor, x / v.width, static_cast<double>(columns)));
}

Viewport panned(const Viewport& v, double dx, double dy, std::int64_t rows, std::int64_t columns) {
  const double byRows = dy * (v.lastRow - v.firstRow) / v.height;
  const double byColumns = dx * (v.lastColumn - v.firstColumn) / v.width;
  return with(v, kept({v.firstRow - byRows, v.lastRow - byRows}, static_cast<double>(rows)),
              kept({v.firstColumn - byColumns, v.lastColumn - byColumns}, static_cast<double>(columns)));
}

Viewport showing(const Viewport& v, CellIndex cell, std::int64_t rows, std::int64_t columns) {
  return with(v, kept(reached({v.firstRow, v.lastRow}, static_cast<double>(cell.row)), static_cast<double>(rows)),
              kept(reached({v.firstColumn, v.lastColumn}, static_cast<double>(cell.column)), static_cast<double>(columns)));
}

std::vector<double> rangeTicks(const ColorRange& range, ColorMap map) {
  std::vector<double> ticks = range.scale == Scale::linear ? linearTicks(range.high) : decadeTicks(range);
  if (map != ColorMap::vik) return ticks;
  if (range.scale == Scale::logarithmic) ticks.insert(ticks.begin(), 0);
  for (std::size_t i = ticks.size(); i-- > 1;) ticks.push_back(-ticks[i]);
  std::sort(ticks.begin(), ticks.end());
  return ticks;
}

std::vector<double> decadeTicks(const ColorRange& range) {
  std::vector<double> ticks;
  const int last = static_cast<int>(std::lround(std::log10(range.high)));
  for (int decade = static_cast<int>(std::lround(std::log10(range.low))); decade <= last; ++decade) ticks.push_back(std::pow(10.0, decade));
  return ticks;
}

double symlog(double value, double linear) {
  const double steps = std::fabs(value) / linear;
  return std::copysign(steps <= 1 ? steps : 1 + std::log10(steps), value);
}

std::int64_t indexTickStep(double span, int most) {
  const double least = span / std::max(1, most);
  for (std::int64_t decade = 1;; decade *= 10)
    for (const std::int64_t digit : {1, 2, 5})
      if (static_cast<double>(digit * decade) >= least) return digit * decade;
}

}  // namespace ulpscope::render
