// The parts of the heatmap that are drawn over its pixels: axes, row marks, glyphs.
#pragma once

#include "widgets/plots/heatmap_view.h"
#include "widgets/plots/theme.h"

#include <QPainter>
#include <QPixmap>

#include <functional>

namespace ulpscope::plots {

struct HeatmapScene {
  const models::HeatmapContent& content;
  const HeatmapLook& look;
  const render::Viewport& view;
  QRect plot;
  const Theme& theme;
  std::int64_t selectedRow = -1;
};

inline constexpr int kRowMarkWidth = 16;
// What the longest row label takes.
int rowLabelWidth(const models::HeatmapContent& content, const QFontMetrics& metrics);

// Where a label stands; where rows are lower than text, the selected row and those of origins have one, and of the others every n-th that
// leaves these room.
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
// A sign drawn once and stamped: a map may hold thousands, and strokes with smooth edges are dear.
class Stamp {
 public:
  // draw: around the point that it is given, up to `radius` and the stroke of a pen.
  Stamp(const QPainter& on, double radius, const std::function<void(QPainter&, QPointF)>& draw);
  void paint(QPainter& painter, QPointF at) const { painter.drawPixmap(at - m_center, m_pixmap); }

 private:
  QPixmap m_pixmap;
  QPointF m_center;
};
Stamp diamondStamp(const QPainter& on, double radius, const QColor& color, RowMark mark);
// Points up for +inf, down (outlined) for -inf.
void paintTriangle(QPainter& painter, QPointF center, double radius, render::CellKind kind);

}  // namespace ulpscope::plots
