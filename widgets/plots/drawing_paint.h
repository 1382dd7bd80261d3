// A drawing of core/render, painted: what SVG makes of it on a page, for paper.
#pragma once

#include "core/render/drawing.h"

#include <QPainter>

namespace ulpscope::plots {

// With its upper left corner at `at`, one unit `scale` wide. Sizes of text are worked out at that scale: a painter of 600 dpi spaces them as print does.
void paintDrawing(QPainter& painter, const render::Drawing& drawing, QPointF at, double scale);

}  // namespace ulpscope::plots
