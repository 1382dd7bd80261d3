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
// What the longest row label takes.
int rowLabelWidth(const models::HeatmapContent& content, const QFontMetrics& metrics);

// Where a label stands; where rows are lower than text, every n-th row has one.
struct LabelPlace {
  std::int64_t row;
  QString words;
  QRectF text;
  QRect fold;  // the triangle's; empty: the row does not unfold
};
std::vector<LabelPlace> labelPlaces(const HeatmapScene& scene, const QFontMetrics& metrics);
QString labelTooltip(const models::HeatmapContent& content, const HeatmapLook& look, std::int64_t row);

void paintRowLabels(QPainter& painter, const HeatmapScene& scene);
void paintRowMarks(QPainter& painter, const HeatmapScene& scene);
void paintSampleAxis(QPainter& painter, const HeatmapScene& scene);
// Lines between groups of samples, with the groups' names.
void paintGroups(QPainter& painter, const HeatmapScene& scene);
// Triangles of the infinities, from 6 px a cell.
void paintGlyphs(QPainter& painter, const HeatmapScene& scene);
void paintCrosshair(QPainter& painter, const QRect& plot, QPointF at);
void paintDiamond(QPainter& painter, QPointF center, double radius, const QColor& color, RowMark mark);
// Points up for +inf, down (outlined) for -inf.
void paintTriangle(QPainter& painter, QPointF center, double radius, render::CellKind kind);

}  // namespace ulpscope::plots
