// The heatmap's pixels, kept as long as they are right: pooled cells for a viewport, colours for a look.
#pragma once

#include "core/render/heatmap_pixels.h"
#include "widgets/models/heatmap_content.h"

#include <QImage>

#include <memory>

namespace ulpscope::plots {

class HeatmapImage {
 public:
  void setContent(const std::shared_ptr<const models::HeatmapContent>& content);
  void setColors(const render::ColorRange& range, render::ColorMap map, render::Theme theme);
  // viewport: in device pixels.
  const QImage& image(const render::Viewport& viewport, double pixelRatio);

 private:
  render::HeatmapLevels m_levels;
  render::PooledCells m_cells;
  render::PixelLook m_look;
  QImage m_image;
  bool m_cellsAreOld = true, m_imageIsOld = true;
};

}  // namespace ulpscope::plots
