#include "core/base/axis_text.h"
#include "core/render/heatmap.h"
#include "core/render/heatmap_pixels.h"
#include "core/render/sample_order.h"
#include "core/render/viewport.h"
#include "core/report/chart.h"
#include "core/report/figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

namespace ulpscope::report {
namespace {

using render::Anchor;
using render::CellKind;
using render::Ink;
using render::Place;
using session::NonfiniteRole;
using Pixels = std::vector<std::uint8_t>;

constexpr double kRowHeight = 13, kLeastHeight = 116, kMostHeight = 520;
constexpr double kMarkWidth = 16, kBarWidth = 14, kBarRoom = 84;  // of the colour bar, with what stands beside it
constexpr std::size_t kLabelCharacters = 34;
constexpr int kRatio = 2;           // pixels to a unit: sharp in print
constexpr double kGlyphFrom = 6;    // a cell's least side that has a triangle

// What the figure is made of.
struct Map {
  std::vector<render::ModuleRow> rows;
  std::shared_ptr<const render::HeatmapData> cells;
  std::vector<std::int64_t> columns;
  render::ColorRange range;
  double tolerance = 0;
  ChartArea area;
  double rowHeight() const { return area.height / static_cast<double>(rows.size()); }
  double columnWidth() const { return area.width / static_cast<double>(columns.size()); }
};

std::string rowLabel(const Phrasebook& book, const render::ModuleRow& row) { return render::shortened(moduleText(book, row.path), kLabelCharacters); }

// All samples that the run was asked for.
std::vector<std::int64_t> columnsOf(const Teller& t) {
  std::vector<std::int64_t> columns;
  const auto& ids = t.content.session.samples.ids;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (t.run->ran(ids[i])) columns.push_back(static_cast<std::int64_t>(i));
  return columns;
}

Map mapOf(const Teller& t) {
  Map map;
  map.rows = render::moduleRows(t.content.session, *t.run);
  map.cells = std::make_shared<const render::HeatmapData>(render::moduleHeatmap(map.rows, *t.content.metrics, session::Metric::relL2));
  map.columns = columnsOf(t);
  map.range = render::automaticRange(*map.cells);
  map.tolerance = session::siteTolerance(t.run->settings.autocast).rtol;
  double widest = 0;
  for (const render::ModuleRow& row : map.rows) widest = std::max(widest, render::textWidth(rowLabel(t.book, row), kTextSize));
  const double left = std::min(widest, 230.0) + kMarkWidth + 6;
  map.area = {left, 4, kFigureWidth - left - kBarRoom, std::clamp(kRowHeight * static_cast<double>(map.rows.size()), kLeastHeight, kMostHeight)};
  return map;
}

NonfiniteRole roleOf(const Teller& t, const render::ModuleRow& row) {
  NonfiniteRole worst = NonfiniteRole::none;
  for (const std::int64_t site : row.sites) {
    const NonfiniteRole role = t.run->sites[static_cast<std::size_t>(site)].role;
    if (role == NonfiniteRole::origin || (role == NonfiniteRole::consequence && worst == NonfiniteRole::none)) worst = role;
  }
  return worst;
}

// A triangle in the middle of a cell, up in white for +inf, down in black for -inf: as the window has it.
void stampTriangle(Pixels& pixels, int width, Place middle, double side, bool isUp) {
  const double r = std::min(side / 2 - kRatio, 7.0 * kRatio) * 0.8;
  for (int dy = static_cast<int>(-r); dy <= static_cast<int>(r); ++dy) {
    const double half = r * (isUp ? dy + r : r - dy) / (2 * r);
    for (int dx = static_cast<int>(-half); dx <= static_cast<int>(half); ++dx) {
      const auto at = (static_cast<std::size_t>(middle.y + dy) * static_cast<std::size_t>(width) + static_cast<std::size_t>(middle.x + dx)) * 4;
      for (std::size_t c = 0; c < 3 && at + c < pixels.size(); ++c) pixels[at + c] = isUp ? 255 : 0;
    }
  }
}

void stampInfinities(const Map& map, const render::Viewport& view, Pixels& pixels) {
  const double side = std::min(map.rowHeight(), map.columnWidth());
  if (side < kGlyphFrom) return;
  for (std::size_t row = 0; row < map.rows.size(); ++row)
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const CellKind kind = map.cells->at(static_cast<std::int64_t>(row), map.columns[column]).kind;
      if (kind != CellKind::plusInf && kind != CellKind::minusInf) continue;
      const render::PixelRect cell = render::cellRect(view, {static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)});
      stampTriangle(pixels, view.width, {cell.x + cell.width / 2, cell.y + cell.height / 2}, kRatio * side, kind == CellKind::plusInf);
    }
}

std::shared_ptr<const Pixels> pixelsOf(const Map& map, const render::HeatmapLevels& levels, render::Theme theme) {
  render::Viewport view = render::wholeMap(static_cast<std::int64_t>(map.rows.size()), static_cast<std::int64_t>(map.columns.size()), static_cast<int>(std::lround(map.area.width * kRatio)), static_cast<int>(std::lround(map.area.height * kRatio)));
  view.pixelRatio = kRatio;
  Pixels pixels = render::heatmapPixels(levels, view, {map.range, render::ColorMap::viridis, theme});
  stampInfinities(map, view, pixels);
  return std::make_shared<const Pixels>(std::move(pixels));
}

void drawCells(const Map& map, render::Drawing& drawing) {
  const render::HeatmapLevels levels(map.cells, map.columns);
  drawing.shapes.emplace_back(render::Raster{map.area.left, map.area.top, map.area.width, map.area.height, static_cast<int>(std::lround(map.area.width * kRatio)), static_cast<int>(std::lround(map.area.height * kRatio)),
                                          pixelsOf(map, levels, render::Theme::light), pixelsOf(map, levels, render::Theme::dark)});
}

// Origins always have a label; of the others every one that has room.
void drawRows(const Teller& t, const Map& map, render::Drawing& drawing) {
  std::vector<double> taken;
  const auto middle = [&](std::size_t row) { return map.area.top + (static_cast<double>(row) + 0.5) * map.rowHeight(); };
  const auto isFree = [&](double y) { return std::none_of(taken.begin(), taken.end(), [y](double other) { return std::fabs(other - y) < kTextSize; }); };
  render::Signs origins{render::Sign::diamond, Ink::finding, 9, {}}, consequences{render::Sign::hollowDiamond, Ink::finding, std::clamp(map.rowHeight() - 4, 3.0, 7.0), {}};
  for (const bool originsFirst : {true, false})
    for (std::size_t row = 0; row < map.rows.size(); ++row) {
      const NonfiniteRole role = roleOf(t, map.rows[row]);
      if ((role == NonfiniteRole::origin) != originsFirst) continue;
      const Place mark{map.area.left - kMarkWidth / 2, middle(row)};
      if (role == NonfiniteRole::origin) origins.at.push_back(mark);
      const bool hasRoomForMark = consequences.at.empty() || mark.y - consequences.at.back().y >= consequences.size;
      if (role == NonfiniteRole::consequence && hasRoomForMark) consequences.at.push_back(mark);
      if (!isFree(mark.y)) continue;
      taken.push_back(mark.y);
      drawing.shapes.emplace_back(render::Words{{map.area.left - kMarkWidth - 4, mark.y + kTextSize * 0.36}, rowLabel(t.book, map.rows[row]), originsFirst ? Ink::text : Ink::muted, Anchor::end, kTextSize});
    }
  drawing.shapes.emplace_back(std::move(consequences));
  drawing.shapes.emplace_back(std::move(origins));
}

void drawSamples(const Teller& t, const Map& map, render::Drawing& drawing) {
  const double bottom = map.area.top + map.area.height;
  const auto& ids = t.content.session.samples.ids;
  double widest = 30;
  for (const std::int64_t column : map.columns) widest = std::max(widest, render::textWidth(ids[static_cast<std::size_t>(column)], kTextSize));
  const bool showsIds = map.columnWidth() >= widest + 8;
  const auto count = static_cast<std::int64_t>(map.columns.size());
  const std::int64_t step = showsIds ? 1 : render::indexTickStep(static_cast<double>(count), std::max(1, static_cast<int>(map.area.width / 70)));
  for (std::int64_t column = step - 1; column < count; column += step) {
    const double x = map.area.left + (static_cast<double>(column) + 0.5) * map.columnWidth();
    drawing.shapes.emplace_back(render::Line{{{x, bottom}, {x, bottom + 4}}, {Ink::muted, 1}});
    drawing.shapes.emplace_back(render::Words{{x, bottom + 5 + kTextSize}, showsIds ? ids[static_cast<std::size_t>(map.columns[static_cast<std::size_t>(column)])] : t.book.count(column + 1), Ink::muted, Anchor::middle, kTextSize});
  }
  drawing.shapes.emplace_back(render::Words{{map.area.left + map.area.width / 2, bottom + 10 + 2 * kTextSize}, t.say(showsIds ? "heatmap.ids" : "heatmap.samples"), Ink::text, Anchor::middle, kTextSize});
}

void drawBar(const Teller& t, const Map& map, render::Drawing& drawing) {
  const double left = map.area.left + map.area.width + 14, top = map.area.top, height = map.area.height;
  constexpr int kSteps = 64;
  for (int i = 0; i < kSteps; ++i) {
    const double share = height / kSteps;
    drawing.shapes.emplace_back(render::Box{left, top + height - (i + 1) * share, kBarWidth, share + 0.3, Ink::none, Ink::none, render::colorAt(render::ColorMap::viridis, (i + 0.5) / kSteps), true});
  }
  const auto yOf = [&](double value) { return top + height * (1 - render::colorPosition(value, map.range, render::ColorMap::viridis)); };
  double last = 1e9;
  for (const double tick : render::rangeTicks(map.range, render::ColorMap::viridis)) {
    const double y = yOf(tick);
    drawing.shapes.emplace_back(render::Line{{{left + kBarWidth, y}, {left + kBarWidth + 4, y}}, {Ink::muted, 1}});
    if (last - y < kTextSize + 3) continue;
    last = y;
    drawing.shapes.emplace_back(render::Words{{left + kBarWidth + 7, y + kTextSize * 0.36}, base::decadeText(tick), Ink::muted, Anchor::start, kTextSize});
  }
  if (map.tolerance >= map.range.low && map.tolerance <= map.range.high)
    drawing.shapes.emplace_back(render::Line{{{left - 4, yOf(map.tolerance)}, {left + kBarWidth + 4, yOf(map.tolerance)}}, {Ink::bad, 2}});
  drawing.shapes.emplace_back(render::Words{{left + kBarWidth + 54, top + height / 2}, t.say("metric.relL2"), Ink::text, Anchor::middle, kTextSize, true});
}

// The pixels of the special cells, as in the map.
render::Raster swatch(CellKind kind, Place at) {
  constexpr double kSize = 12;
  Map one;
  one.rows.resize(1);
  one.columns = {0};
  one.cells = std::make_shared<const render::HeatmapData>(1, 1, std::vector{render::Cell{kind, false, 0}});
  one.area = {at.x, at.y, kSize, kSize};
  const render::HeatmapLevels levels(one.cells, one.columns);
  return {at.x, at.y, kSize, kSize, static_cast<int>(kSize) * kRatio, static_cast<int>(kSize) * kRatio, pixelsOf(one, levels, render::Theme::light), pixelsOf(one, levels, render::Theme::dark)};
}

double drawSpecialLegend(const Teller& t, double left, double top, render::Drawing& drawing) {
  double x = left, y = top;
  for (const auto& [kind, key] : {std::pair{CellKind::exactZero, "legend.zero"}, {CellKind::nan, "legend.nan"}, {CellKind::plusInf, "legend.plusInf"}, {CellKind::minusInf, "legend.minusInf"}, {CellKind::notRun, "legend.notRun"}}) {
    const std::string words = t.say(key);
    const double width = 17 + render::textWidth(words, kTextSize);
    if (x + width > drawing.width) x = left, y += 18;
    drawing.shapes.emplace_back(swatch(kind, {x, y + 3}));
    drawing.shapes.emplace_back(render::Box{x, y + 3, 12, 12, Ink::none, Ink::muted, {}, false});
    drawing.shapes.emplace_back(render::Words{{x + 17, y + 13}, words, Ink::text, Anchor::start, kTextSize});
    x += width + 14;
  }
  return y + 20;
}

std::string wordsOf(const Teller& t, const Map& map) {
  std::map<CellKind, std::int64_t> counts;
  for (std::size_t row = 0; row < map.rows.size(); ++row)
    for (const std::int64_t column : map.columns) ++counts[map.cells->at(static_cast<std::int64_t>(row), column).kind];
  const auto count = [&](CellKind kind) { return t.book.count(counts[kind]); };
  return t.say("heatmap.words", {t.book.count(static_cast<std::int64_t>(map.rows.size())), t.book.count(static_cast<std::int64_t>(map.columns.size())), t.book.number(map.range.low), t.book.number(map.range.high), count(CellKind::nan),
                                 count(CellKind::plusInf), count(CellKind::minusInf), count(CellKind::exactZero), count(CellKind::notRun)});
}

}  // namespace

Figure heatmapFigure(const Teller& t) {
  const Map map = mapOf(t);
  render::Drawing drawing{kFigureWidth, 0, {}};
  drawCells(map, drawing);
  drawing.shapes.emplace_back(render::Box{map.area.left, map.area.top, map.area.width, map.area.height, Ink::none, Ink::line, {}, false});
  drawRows(t, map, drawing);
  drawSamples(t, map, drawing);
  drawBar(t, map, drawing);
  double bottom = drawSpecialLegend(t, map.area.left, map.area.top + map.area.height + 42, drawing);
  std::vector<LegendItem> items{{render::Sign::dot, Ink::bad, t.say("legend.tolerance", {t.book.cell(map.tolerance)}), true, render::Dash::solid}};
  const auto hasRole = [&](NonfiniteRole role) { return std::any_of(map.rows.begin(), map.rows.end(), [&](const auto& row) { return roleOf(t, row) == role; }); };
  if (hasRole(NonfiniteRole::origin)) items.push_back({render::Sign::diamond, Ink::finding, t.say("legend.origin")});
  if (hasRole(NonfiniteRole::consequence)) items.push_back({render::Sign::hollowDiamond, Ink::finding, t.say("legend.consequence")});
  bottom = drawLegend(drawing, items, map.area.left, bottom);
  drawing.height = bottom + 2;
  return {std::move(drawing), t.say("heatmap.caption"), wordsOf(t, map)};
}

}  // namespace ulpscope::report
