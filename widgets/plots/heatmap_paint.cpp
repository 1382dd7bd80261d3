#include "widgets/plots/heatmap_paint.h"

#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ulpscope::plots {
namespace {

constexpr int kTickLength = 4;
constexpr double kGlyphFrom = 6;  // px a side
constexpr int kFoldWidth = 13;    // of the triangle that unfolds
constexpr int kOpSiteIndent = 12;
constexpr double kMarkStep = 3;   // px between marks where rows are lower than that

struct CellSpan {
  std::int64_t first, last;  // exclusive
};

CellSpan shown(double first, double last, std::int64_t count) {
  return {std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(first))), std::min(count, static_cast<std::int64_t>(std::ceil(last)))};
}

CellSpan shownRows(const HeatmapScene& s) { return shown(s.view.firstRow, s.view.lastRow, s.content.rowCount()); }
CellSpan shownColumns(const HeatmapScene& s) { return shown(s.view.firstColumn, s.view.lastColumn, s.content.columnCount()); }

double rowHeight(const HeatmapScene& s) { return s.plot.height() / (s.view.lastRow - s.view.firstRow); }
double columnWidth(const HeatmapScene& s) { return s.plot.width() / (s.view.lastColumn - s.view.firstColumn); }
double rowCenter(const HeatmapScene& s, std::int64_t row) { return s.plot.top() + (static_cast<double>(row) + 0.5 - s.view.firstRow) * rowHeight(s); }
double columnCenter(const HeatmapScene& s, std::int64_t column) { return s.plot.left() + (static_cast<double>(column) + 0.5 - s.view.firstColumn) * columnWidth(s); }

// direction -1: up, 1: down.
void paintArrow(QPainter& painter, QPointF c, int direction, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF({{c.x(), c.y() + 5.0 * direction}, {c.x() + 5, c.y() - 3.0 * direction}, {c.x() - 5, c.y() - 3.0 * direction}}));
  painter.restore();
}

// Points right where there is something to unfold, down where it is unfolded.
void paintFold(QPainter& painter, const QRect& rect, bool isUnfolded, const QColor& color) {
  const QPointF c = QRectF(rect).center();
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(isUnfolded ? QPolygonF({{c.x() - 4, c.y() - 2.5}, {c.x() + 4, c.y() - 2.5}, {c.x(), c.y() + 3}})
                                 : QPolygonF({{c.x() - 2.5, c.y() - 4}, {c.x() + 3, c.y()}, {c.x() - 2.5, c.y() + 4}}));
  painter.setBrush(Qt::NoBrush);
}

Stamp glyph(const QPainter& on, render::CellKind kind, double radius) {
  return Stamp(on, radius, [&](QPainter& painter, QPointF at) { paintTriangle(painter, at, radius, kind); });
}

std::vector<std::int64_t> labelledRows(const HeatmapScene& s, int lineHeight) {
  const auto step = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil((lineHeight + 1) / rowHeight(s))));
  const CellSpan rows = shownRows(s);
  std::set<std::int64_t> labelled;
  const auto take = [&](std::int64_t row) {
    const double y = rowCenter(s, row);
    if (y < s.plot.top() || y > s.plot.bottom() + 1) return;
    const auto after = labelled.lower_bound(row);
    const auto isFree = [&](std::int64_t other) { return static_cast<double>(std::abs(other - row)) * rowHeight(s) >= lineHeight; };
    if ((after == labelled.end() || isFree(*after)) && (after == labelled.begin() || isFree(*std::prev(after)))) labelled.insert(row);
  };
  if (s.selectedRow >= rows.first && s.selectedRow < rows.last) take(s.selectedRow);
  for (std::int64_t row = rows.first; step > 1 && row < rows.last; ++row)
    if (s.look.rowMarks[static_cast<std::size_t>(row)] == RowMark::origin) take(row);
  for (std::int64_t row = (rows.first + step - 1) / step * step; row < rows.last; row += step) take(row);
  return {labelled.begin(), labelled.end()};
}

QString worstSampleText(const models::HeatmapContent& content, std::int64_t row) {
  const render::PackedCell* cells = content.data().row(row);
  const render::PackedCell* worst = std::max_element(cells, cells + content.data().samples());
  if (worst == cells + content.data().samples() || *worst == render::kPackedNotRun) return {};
  const std::int64_t sample = worst - cells;
  return QObject::tr("\nworst sample: %1, %2 %3").arg(content.sampleId(sample), content.metric, models::qt(render::exactText(content.data().at(row, sample))));
}

}  // namespace

Stamp::Stamp(const QPainter& on, double radius, const std::function<void(QPainter&, QPointF)>& draw) {
  const double ratio = on.device()->devicePixelRatioF();
  const int side = 2 * static_cast<int>(std::ceil(radius)) + 4;
  m_pixmap = QPixmap(QSize(side, side) * ratio);
  m_pixmap.setDevicePixelRatio(ratio);
  m_pixmap.fill(Qt::transparent);
  QPainter painter(&m_pixmap);
  m_center = {side / 2.0, side / 2.0};
  draw(painter, m_center);
}

Stamp diamondStamp(const QPainter& on, double radius, const QColor& color, RowMark mark) {
  return Stamp(on, radius, [&](QPainter& painter, QPointF at) { paintDiamond(painter, at, radius, color, mark); });
}

int rowLabelWidth(const models::HeatmapContent& content, const QFontMetrics& metrics) {
  // Measuring is dear: only those that come near the longest in letters are measured.
  std::size_t longest = 0;
  for (const render::ModuleRow& row : content.rows) longest = std::max(longest, row.isOpSite() ? row.opSite.size() : row.path.size());
  int width = metrics.horizontalAdvance(models::modulePathText({}));
  for (const render::ModuleRow& row : content.rows) {
    if ((row.isOpSite() ? row.opSite.size() : row.path.size()) * 5 < longest * 4) continue;
    width = std::max(width, metrics.horizontalAdvance(models::rowText(row)) + (row.isOpSite() ? kOpSiteIndent : 0));
  }
  return width + kFoldWidth + 3;
}

std::vector<LabelPlace> labelPlaces(const HeatmapScene& s, const QFontMetrics& metrics) {
  std::vector<LabelPlace> places;
  const int right = s.plot.left() - kRowMarkWidth - 4;
  for (const std::int64_t row : labelledRows(s, metrics.height())) {
    const double y = rowCenter(s, row);
    const render::ModuleRow& at = s.content.rows[static_cast<std::size_t>(row)];
    const int end = right - (at.isOpSite() ? kOpSiteIndent : 0);
    LabelPlace place{row, models::rowText(at), {}, {}};
    int width = metrics.horizontalAdvance(place.words);
    if (const int room = end - kFoldWidth - 2; width > room) {
      place.words = metrics.elidedText(place.words, Qt::ElideLeft, room);
      width = metrics.horizontalAdvance(place.words);
    }
    place.text = QRectF(end - width - 1, y - metrics.height() / 2.0 - 0.5, width + 2, metrics.height() + 1);
    if (s.look.rowFolds[static_cast<std::size_t>(row)] != RowFold::none)
      place.fold = QRect(end - width - kFoldWidth - 1, static_cast<int>(std::lround(y)) - kFoldWidth / 2, kFoldWidth, kFoldWidth);
    places.push_back(place);
  }
  return places;
}

QString labelTooltip(const models::HeatmapContent& content, const HeatmapLook& look, std::int64_t row) {
  const QString title = models::rowTitle(content.rows[static_cast<std::size_t>(row)]) + worstSampleText(content, row);
  switch (look.rowFolds[static_cast<std::size_t>(row)]) {
    case RowFold::folded: return title + QObject::tr("\nTriangle or double click, or Enter: show its op sites");
    case RowFold::unfolded: return title + QObject::tr("\nTriangle or double click, or Enter: hide its op sites");
    case RowFold::none: break;
  }
  return title;
}

void paintRowLabels(QPainter& painter, const HeatmapScene& s) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const double guide = s.plot.left() - kRowMarkWidth - 4 - kOpSiteIndent / 2.0 + 1;
  for (const LabelPlace& place : labelPlaces(s, painter.fontMetrics())) {
    const bool isOpSite = s.content.rows[static_cast<std::size_t>(place.row)].isOpSite();
    const bool isSelected = place.row == s.selectedRow;
    if (isSelected) painter.fillRect(place.text.adjusted(-1, 0, 1, 0), s.theme.selection);
    painter.setPen(isSelected ? s.theme.selectionText : isOpSite ? s.theme.text : s.theme.muted);
    painter.drawText(place.text, Qt::AlignCenter | Qt::TextDontClip, place.words);
    if (isOpSite) {
      painter.setPen(QPen(s.theme.line, 2));
      const double half = std::max(rowHeight(s), place.text.height()) / 2;
      painter.drawLine(QPointF(guide, place.text.center().y() - half), QPointF(guide, place.text.center().y() + half));
    }
    if (!place.fold.isEmpty()) paintFold(painter, place.fold, s.look.rowFolds[static_cast<std::size_t>(place.row)] == RowFold::unfolded, s.theme.text);
  }
  painter.restore();
}

void paintGroups(QPainter& painter, const HeatmapScene& s) {
  const QFontMetrics metrics = painter.fontMetrics();
  for (const render::SampleGroup& group : s.content.groups) {
    const double left = s.plot.left() + (static_cast<double>(group.first) - s.view.firstColumn) * columnWidth(s);
    const double right = left + static_cast<double>(group.count) * columnWidth(s);
    if (right < s.plot.left() || left > s.plot.right()) continue;
    if (group.first > 0 && left > s.plot.left()) {
      painter.setPen(QPen(Qt::black, 3));
      painter.drawLine(QPointF(left, s.plot.top()), QPointF(left, s.plot.bottom()));
      painter.setPen(QPen(Qt::white, 1));
      painter.drawLine(QPointF(left, s.plot.top()), QPointF(left, s.plot.bottom()));
    }
    const QString words = QStringLiteral("%1 (%2)").arg(models::qt(group.name)).arg(group.count);
    const double from = std::max<double>(left, s.plot.left()), to = std::min<double>(right, s.plot.right());
    const QRectF room(from + 3, s.plot.top() + 3, to - from - 6, metrics.height() + 4);
    const int width = metrics.horizontalAdvance(words) + 8;
    if (room.width() < width) continue;
    const QRectF pill(room.left(), room.top(), width, room.height());
    painter.fillRect(pill, s.theme.base);
    painter.setPen(s.theme.text);
    painter.drawText(pill, Qt::AlignCenter, words);
  }
}

void paintCrosshair(QPainter& painter, const QRect& plot, QPointF at) {
  for (const auto& [color, width] : {std::pair{QColor(0, 0, 0, 90), 3}, std::pair{QColor(255, 255, 255, 190), 1}}) {
    painter.setPen(QPen(color, width));
    painter.drawLine(QPointF(plot.left(), at.y()), QPointF(plot.right(), at.y()));
    painter.drawLine(QPointF(at.x(), plot.top()), QPointF(at.x(), plot.bottom()));
  }
}

void paintDiamond(QPainter& painter, QPointF c, double r, const QColor& color, RowMark mark) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, 1.3));
  painter.setBrush(mark == RowMark::origin ? QBrush(color) : QBrush(Qt::NoBrush));
  painter.drawPolygon(QPolygonF({{c.x(), c.y() - r}, {c.x() + r, c.y()}, {c.x(), c.y() + r}, {c.x() - r, c.y()}}));
  painter.restore();
}

void paintRowMarks(QPainter& painter, const HeatmapScene& s) {
  const double x = s.plot.left() - kRowMarkWidth / 2.0 - 1;
  const CellSpan rows = shownRows(s);
  const QColor& color = s.theme.origin.background;
  const double radius = std::clamp(rowHeight(s) / 2 - 1, 1.5, 4.0);
  const Stamp consequence = diamondStamp(painter, radius, color, RowMark::consequence), origin = diamondStamp(painter, 5, color, RowMark::origin);
  double last = -1e9;
  for (std::int64_t row = rows.first; row < rows.last; ++row) {
    if (s.look.rowMarks[static_cast<std::size_t>(row)] != RowMark::consequence || rowCenter(s, row) - last < kMarkStep) continue;
    last = rowCenter(s, row);
    consequence.paint(painter, {x, last});
  }
  // Origins last, so that no consequence hides one; those out of sight as an arrow at the edge.
  bool above = false, below = false;
  last = -1e9;
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(s.look.rowMarks.size()); ++row) {
    if (s.look.rowMarks[static_cast<std::size_t>(row)] != RowMark::origin) continue;
    const double y = rowCenter(s, row);
    above = above || y < s.plot.top();
    below = below || y > s.plot.bottom() + 1;
    if (y < s.plot.top() || y > s.plot.bottom() + 1 || y - last < kMarkStep) continue;
    last = y;
    origin.paint(painter, {x, y});
  }
  if (above) paintArrow(painter, {x, s.plot.top() + 4.0}, -1, color);
  if (below) paintArrow(painter, {x, s.plot.bottom() - 4.0}, 1, color);
}

void paintSampleAxis(QPainter& painter, const HeatmapScene& s) {
  const QFontMetrics metrics = painter.fontMetrics();
  const CellSpan columns = shownColumns(s);
  int widest = metrics.horizontalAdvance(QStringLiteral("0000"));
  for (std::int64_t c = columns.first; c < columns.last && c < columns.first + 200; ++c)
    widest = std::max(widest, metrics.horizontalAdvance(s.content.sampleId(s.content.sampleAt(c))));
  const bool showIds = columnWidth(s) >= widest + 8;
  const std::int64_t step = showIds ? 1 : render::indexTickStep(s.view.lastColumn - s.view.firstColumn, std::max(1, s.plot.width() / 70));
  painter.setPen(s.theme.muted);
  // Counted from 1: ticks at 10, 20, 30.
  for (std::int64_t column = (columns.first + step) / step * step - 1; column < columns.last; column += step) {
    const double x = columnCenter(s, column);
    if (x < s.plot.left() || x > s.plot.right() + 1) continue;
    const QString text = showIds ? s.content.sampleId(s.content.sampleAt(column)) : QString::number(column + 1);
    painter.drawLine(QPointF(x, s.plot.bottom() + 1), QPointF(x, s.plot.bottom() + 1 + kTickLength));
    painter.drawText(QRectF(x - 60, s.plot.bottom() + kTickLength + 2, 120, metrics.height()), Qt::AlignHCenter | Qt::AlignTop, text);
  }
  const QString title = (showIds ? QStringLiteral("sample id, %1") : QStringLiteral("n-th sample, %1")).arg(s.look.order);
  painter.drawText(QRectF(s.plot.left() - 40, s.plot.bottom() + kTickLength + 4 + metrics.height(), s.plot.width() + 80, metrics.height() + 2),
                   Qt::AlignHCenter | Qt::AlignTop, metrics.elidedText(title, Qt::ElideRight, s.plot.width() + 80));
}

void paintTriangle(QPainter& painter, QPointF c, double r, render::CellKind kind) {
  const double up = kind == render::CellKind::plusInf ? -1 : 1;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(up < 0 ? QColor(Qt::white) : QColor(Qt::black), 1));
  painter.setBrush(up < 0 ? QColor(Qt::white) : QColor(Qt::black));
  painter.drawPolygon(QPolygonF({{c.x(), c.y() + up * r * 0.8}, {c.x() + r * 0.8, c.y() - up * r * 0.6}, {c.x() - r * 0.8, c.y() - up * r * 0.6}}));
  painter.restore();
}

void paintGlyphs(QPainter& painter, const HeatmapScene& s) {
  const double side = std::min(rowHeight(s), columnWidth(s));
  if (side < kGlyphFrom) return;
  const double radius = std::min(side / 2 - 1, 7.0);
  const Stamp plus = glyph(painter, render::CellKind::plusInf, radius), minus = glyph(painter, render::CellKind::minusInf, radius);
  const CellSpan rows = shownRows(s);
  const CellSpan columns = shownColumns(s);
  painter.save();
  painter.setClipRect(s.plot);
  painter.setPen(QPen(QColor(0x30, 0x30, 0x30), 1));
  for (std::int64_t row = rows.first; row < rows.last; ++row)
    for (std::int64_t column = columns.first; column < columns.last; ++column) {
      const render::PackedCell cell = s.content.data().row(row)[s.content.sampleAt(column)];
      if (cell != render::kPackedPlusInf && cell != render::kPackedMinusInf) continue;
      const QPointF center(columnCenter(s, column), rowCenter(s, row));
      (cell == render::kPackedPlusInf ? plus : minus).paint(painter, center);
      if (cell == render::kPackedMinusInf)
        painter.drawRect(QRectF(center.x() - columnWidth(s) / 2 + 0.5, center.y() - rowHeight(s) / 2 + 0.5, columnWidth(s) - 1, rowHeight(s) - 1));
    }
  painter.restore();
}

}  // namespace ulpscope::plots
