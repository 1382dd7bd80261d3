// The parts of the heatmap that are drawn over its pixels: axes, row marks, glyphs.
#pragma once

#include "widgets/plots/heatmap_view.h"
#include "widgets/plots/theme.h"

#include <QPainter>

namespace ulpscope::plots {

struct HeatmapScene {
  const models::HeatmapContent& content;
  const HeatmapLook& look;
  const render::Viewport& view;
  QRect plot;
  const Theme& theme;
};

inline constexpr int kRowMarkWidth = 16;
// Width of the row labels' column: as wide as the longest, at most `most`.
int rowLabelWidth(const models::HeatmapContent& content, const QFontMetrics& metrics, int most);

void paintRowLabels(QPainter& painter, const HeatmapScene& scene);
void paintRowMarks(QPainter& painter, const HeatmapScene& scene);
void paintSampleAxis(QPainter& painter, const HeatmapScene& scene);
// Triangles of the infinities, from 6 px a cell.
void paintGlyphs(QPainter& painter, const HeatmapScene& scene);
void paintDiamond(QPainter& painter, QPointF center, double radius, const QColor& color, RowMark mark);
// Points up for +inf, down (outlined) for -inf.
void paintTriangle(QPainter& painter, QPointF center, double radius, render::CellKind kind);

}  // namespace ulpscope::plots
