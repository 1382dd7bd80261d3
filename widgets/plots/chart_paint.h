// What charts of our own painting have in common: axes, curves, hatching.
#pragma once

#include "core/render/scan_strip.h"
#include "widgets/plots/theme.h"

#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QString>

namespace ulpscope::plots {

// An area with its value axis; y in pixels of a position of the axis.
struct Chart {
  QRectF area;
  render::ValueAxis axis;
  QString title;
  double yOf(double position) const { return area.bottom() - (position - axis.low) / (axis.high - axis.low) * area.height(); }
};

QFont smallFont(const QFont& font);
QColor decisionColor(int decision, const Theme& theme);  // kNoDecision: that of NaN; beyond the theme's: muted
QColor blended(const QColor& over, const QColor& base, double share);
QBrush hatching(const QColor& color);

// Frame, grid lines and numbers to the left of the area, the title along them.
void paintValueAxis(QPainter& painter, const Chart& chart, const Theme& theme);
// The same below an area, in the painter's pen; the axis goes from left to right.
void paintBottomAxis(QPainter& painter, const QRectF& area, const render::ValueAxis& axis, const QString& title);
// What the numbers and the title take to the left of a chart.
double valueAxisWidth(const QFontMetrics& metrics);
double bottomAxisHeight(const QFontMetrics& metrics);

// Of a view that begins at the area's left edge. Clipped to the area.
void paintCurve(QPainter& painter, const Chart& chart, const render::Curve& curve, const QPen& pen);
// Values without a place, at the axis' ends.
void paintEdgeMarks(QPainter& painter, const Chart& chart, const render::Curve& curve, const Theme& theme);

}  // namespace ulpscope::plots
