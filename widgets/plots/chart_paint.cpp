#include "widgets/plots/chart_paint.h"

#include "core/session/scan_points.h"
#include "widgets/plots/marks.h"
#include "widgets/plots/training_ticks.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::plots {
namespace {

constexpr int kTick = 3;
constexpr int kPixelsATick = 44;  // of a value axis

MarkStyle edgeStyle(render::ValuePlace place, const Theme& theme) {
  switch (place) {
    case render::ValuePlace::plusInf: return {Mark::triangleUp, theme.bad};
    case render::ValuePlace::minusInf: return {Mark::triangleDown, theme.text, false};
    case render::ValuePlace::nan: return {Mark::diamond, theme.origin.border};
    default: return {Mark::cross, theme.muted};
  }
}

}  // namespace

QFont smallFont(const QFont& font) {
  QFont small = font;
  small.setPointSizeF(font.pointSizeF() * 0.9);
  return small;
}

QColor decisionColor(int decision, const Theme& theme) {
  if (decision == session::kNoDecision) return theme.origin.background;
  const auto at = static_cast<std::size_t>(decision);
  return decision >= 0 && at < theme.decisions.size() ? theme.decisions[at] : theme.muted;
}

QColor blended(const QColor& over, const QColor& base, double share) {
  const auto mix = [share](double a, double b) { return static_cast<float>(share * a + (1 - share) * b); };
  return QColor::fromRgbF(mix(over.redF(), base.redF()), mix(over.greenF(), base.greenF()), mix(over.blueF(), base.blueF()));
}

QBrush hatching(const QColor& color) { return {color, Qt::BDiagPattern}; }

double valueAxisWidth(const QFontMetrics& metrics) { return metrics.horizontalAdvance(QStringLiteral("−0.00123")) + metrics.height() + 3 * kTick; }

double bottomAxisHeight(const QFontMetrics& metrics) { return 2 * metrics.height() + kTick + 2; }

void paintValueAxis(QPainter& painter, const Chart& chart, const Theme& theme) {
  const QRectF& area = chart.area;
  const QFontMetrics metrics(painter.font());
  painter.setPen(QPen(theme.line, 0));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(area);
  const int most = std::max(2, static_cast<int>(area.height()) / std::max(kPixelsATick, 2 * metrics.height()));
  for (const AxisTick& tick : axisTicks(chart.axis, most, 10)) {
    const double y = chart.yOf(tick.at);
    if (y < area.top() || y > area.bottom()) continue;
    painter.setPen(QPen(theme.line, 0, Qt::DotLine));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(theme.muted);
    painter.drawText(QRectF(area.left() - 200, y - metrics.height() / 2.0, 200 - 2 * kTick, metrics.height()), Qt::AlignRight | Qt::AlignVCenter, tick.text);
  }
  painter.save();
  painter.translate(area.left() - valueAxisWidth(metrics), area.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-area.height() / 2, 0, area.height(), metrics.height()), Qt::AlignCenter, metrics.elidedText(chart.title, Qt::ElideRight, static_cast<int>(area.height())));
  painter.restore();
}

void paintBottomAxis(QPainter& painter, const QRectF& area, const render::ValueAxis& axis, const QString& title) {
  const QFontMetrics metrics(painter.font());
  const int widest = std::max(60, 2 * metrics.horizontalAdvance(QStringLiteral("0.00000")));
  double last = -1e9;
  for (const AxisTick& tick : axisTicks(axis, std::max(2, static_cast<int>(area.width()) / widest), 10)) {
    const double x = area.left() + (tick.at - axis.low) / (axis.high - axis.low) * area.width();
    const double half = metrics.horizontalAdvance(tick.text) / 2.0;
    if (x < area.left() - 0.5 || x > area.right() + 0.5) continue;
    painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + kTick));
    if (x - half < last) continue;
    painter.drawText(QRectF(x - half, area.bottom() + kTick, 2 * half + 1, metrics.height()), Qt::AlignCenter, tick.text);
    last = x + half + 6;
  }
  const int room = static_cast<int>(area.width());
  painter.drawText(QRectF(area.left(), area.bottom() + kTick + metrics.height(), area.width(), metrics.height()), Qt::AlignCenter, metrics.elidedText(title, Qt::ElideRight, room));
}

void paintCurve(QPainter& painter, const Chart& chart, const render::Curve& curve, const QPen& pen) {
  painter.save();
  painter.setClipRect(chart.area);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  for (const auto& line : curve.lines) {
    QPolygonF path;
    for (const render::CurvePoint& point : line) path << QPointF(chart.area.left() + point.x, chart.yOf(point.at));
    path.size() == 1 ? painter.drawPoint(path.front()) : painter.drawPolyline(path);
  }
  painter.restore();
}

void paintEdgeMarks(QPainter& painter, const Chart& chart, const render::Curve& curve, const Theme& theme) {
  double last = -1e9;
  for (const render::CurveMark& mark : curve.marks) {
    if (mark.x < last + 8) continue;  // one for each that can be told from the next
    last = mark.x;
    paintMark(painter, {chart.area.left() + mark.x, chart.yOf(render::valuePoint(mark.place == render::ValuePlace::nan ? std::nan("") : mark.place == render::ValuePlace::plusInf ? HUGE_VAL : -HUGE_VAL, chart.axis).at)}, edgeStyle(mark.place, theme), 7);
  }
}

}  // namespace ulpscope::plots
