// The shapes of points: in plots, legends and tiles the same, so that colour never stands alone.
#pragma once

#include "widgets/models/sample_outcome.h"
#include "widgets/plots/theme.h"

#include <QPainterPath>
#include <QString>

#include <vector>

class QPainter;

namespace ulpscope::plots {

enum class Mark { dot, triangleDown, triangleUp, square, diamond, cross, ring, line, dashes };

struct MarkStyle {
  Mark mark = Mark::dot;
  QColor color;
  bool isFilled = true;
};
MarkStyle styleOf(models::Outcome outcome, const Theme& theme);

// Centred at the origin, `size` px across. line, dashes: a horizontal stroke.
QPainterPath markPath(Mark mark, double size);
void paintMark(QPainter& painter, QPointF centre, const MarkStyle& style, double size);

struct LegendEntry {
  MarkStyle style;
  QString text;
};

}  // namespace ulpscope::plots
