// A drawing of core/render, painted: what SVG makes of it on a page, for paper.
#pragma once

#include "core/render/drawing.h"

#include <QPainter>

namespace ulpscope::plots {

// With its upper left corner at `at`, one unit `scale` wide. Sizes of text are worked out at that scale: a painter of 600 dpi spaces them as print does.
void paintDrawing(QPainter& painter, const render::Drawing& drawing, QPointF at, double scale);

// No ligatures, so that "finite" is found and copied as it is written: Qt sets none where letters are spaced, be it by the least it knows.
void keepLetters(QFont& font);

}  // namespace ulpscope::plots
