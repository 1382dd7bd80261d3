#include "widgets/plots/heatmap_paint.h"

#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

using models::qt;

constexpr int kTickLength = 4;
constexpr double kGlyphFrom = 6;  // px a side

struct CellSpan {
  std::int64_t first, last;  // exclusive
};

CellSpan shown(double first, double last, std::int64_t count) {
  return {std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(first))), std::min(count, static_cast<std::int64_t>(std::ceil(last)))};
}

CellSpan shownRows(const HeatmapScene& s) { return shown(s.view.firstRow, s.view.lastRow, static_cast<std::int64_t>(s.content.rows.size())); }
CellSpan shownColumns(const HeatmapScene& s) { return shown(s.view.firstColumn, s.view.lastColumn, static_cast<std::int64_t>(s.content.columns.size())); }

double rowHeight(const HeatmapScene& s) { return s.plot.height() / (s.view.lastRow - s.view.firstRow); }
double columnWidth(const HeatmapScene& s) { return s.plot.width() / (s.view.lastColumn - s.view.firstColumn); }
double rowCenter(const HeatmapScene& s, std::int64_t row) { return s.plot.top() + (static_cast<double>(row) + 0.5 - s.view.firstRow) * rowHeight(s); }
double columnCenter(const HeatmapScene& s, std::int64_t column) { return s.plot.left() + (static_cast<double>(column) + 0.5 - s.view.firstColumn) * columnWidth(s); }

QString rowText(const models::HeatmapContent& content, std::int64_t row) {
  return models::modulePathText(qt(content.rows[static_cast<std::size_t>(row)].path));
}

// direction -1: up, 1: down.
void paintArrow(QPainter& painter, QPointF c, int direction, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF({{c.x(), c.y() + 5.0 * direction}, {c.x() + 5, c.y() - 3.0 * direction}, {c.x() - 5, c.y() - 3.0 * direction}}));
  painter.restore();
}

}  // namespace

int rowLabelWidth(const models::HeatmapContent& content, const QFontMetrics& metrics, int most) {
  int width = 0;
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(content.rows.size()) && width < most; ++row)
    width = std::max(width, metrics.horizontalAdvance(rowText(content, row)));
  return std::min(width, most);
}

void paintRowLabels(QPainter& painter, const HeatmapScene& s) {
  const QFontMetrics metrics = painter.fontMetrics();
  const int room = s.plot.left() - kRowMarkWidth - 6;
  const std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil((metrics.height() + 1) / rowHeight(s))));
  const CellSpan rows = shownRows(s);
  for (std::int64_t row = (rows.first + step - 1) / step * step; row < rows.last; row += step) {
    const double y = rowCenter(s, row);
    if (y < s.plot.top() || y > s.plot.bottom() + 1) continue;
    painter.setPen(s.theme.muted);
    const QString text = metrics.elidedText(rowText(s.content, row), Qt::ElideLeft, room);
    painter.drawText(QRectF(2, y - metrics.height(), room, metrics.height() * 2), Qt::AlignRight | Qt::AlignVCenter, text);
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
  for (std::int64_t row = rows.first; row < rows.last; ++row)
    if (s.look.rowMarks[static_cast<std::size_t>(row)] == RowMark::consequence)
      paintDiamond(painter, {x, rowCenter(s, row)}, std::clamp(rowHeight(s) / 2 - 1, 1.5, 4.0), color, RowMark::consequence);
  // Origins last, so that no consequence hides one; those out of sight as an arrow at the edge.
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(s.look.rowMarks.size()); ++row) {
    if (s.look.rowMarks[static_cast<std::size_t>(row)] != RowMark::origin) continue;
    const double y = rowCenter(s, row);
    if (y < s.plot.top())
      paintArrow(painter, {x, s.plot.top() + 4.0}, -1, color);
    else if (y > s.plot.bottom() + 1)
      paintArrow(painter, {x, s.plot.bottom() - 4.0}, 1, color);
    else
      paintDiamond(painter, {x, y}, 5, color, RowMark::origin);
  }
}

void paintSampleAxis(QPainter& painter, const HeatmapScene& s) {
  const QFontMetrics metrics = painter.fontMetrics();
  const CellSpan columns = shownColumns(s);
  int widest = metrics.horizontalAdvance(QStringLiteral("0000"));
  for (std::int64_t c = columns.first; c < columns.last && c < columns.first + 200; ++c)
    widest = std::max(widest, metrics.horizontalAdvance(s.content.sampleIds.value(s.content.columns[static_cast<std::size_t>(c)])));
  const bool showIds = columnWidth(s) >= widest + 8;
  const std::int64_t step = showIds ? 1 : render::indexTickStep(s.view.lastColumn - s.view.firstColumn, std::max(1, s.plot.width() / 70));
  painter.setPen(s.theme.muted);
  // Counted from 1: ticks at 10, 20, 30.
  for (std::int64_t column = (columns.first + step) / step * step - 1; column < columns.last; column += step) {
    const double x = columnCenter(s, column);
    if (x < s.plot.left() || x > s.plot.right() + 1) continue;
    const QString text = showIds ? s.content.sampleIds.value(s.content.columns[static_cast<std::size_t>(column)]) : QString::number(column + 1);
    painter.drawLine(QPointF(x, s.plot.bottom() + 1), QPointF(x, s.plot.bottom() + 1 + kTickLength));
    painter.drawText(QRectF(x - 60, s.plot.bottom() + kTickLength + 2, 120, metrics.height()), Qt::AlignHCenter | Qt::AlignTop, text);
  }
  const QString title = (showIds ? QStringLiteral("sample id, %1") : QStringLiteral("n-th sample, %1")).arg(s.look.order);
  painter.drawText(QRectF(s.plot.left() - 40, s.plot.bottom() + kTickLength + 4 + metrics.height(), s.plot.width() + 80, metrics.height() + 2),
                   Qt::AlignHCenter | Qt::AlignTop, title);
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
  const CellSpan rows = shownRows(s);
  const CellSpan columns = shownColumns(s);
  painter.save();
  painter.setClipRect(s.plot);
  for (std::int64_t row = rows.first; row < rows.last; ++row)
    for (std::int64_t column = columns.first; column < columns.last; ++column) {
      const render::CellKind kind = s.content.data.at(row, s.content.columns[static_cast<std::size_t>(column)]).kind;
      if (kind != render::CellKind::plusInf && kind != render::CellKind::minusInf) continue;
      const QPointF center(columnCenter(s, column), rowCenter(s, row));
      paintTriangle(painter, center, std::min(side / 2 - 1, 7.0), kind);
      if (kind == render::CellKind::plusInf) continue;
      painter.setPen(QPen(QColor(0x30, 0x30, 0x30), 1));
      painter.drawRect(QRectF(center.x() - columnWidth(s) / 2 + 0.5, center.y() - rowHeight(s) / 2 + 0.5, columnWidth(s) - 1, rowHeight(s) - 1));
    }
  painter.restore();
}

}  // namespace ulpscope::plots
