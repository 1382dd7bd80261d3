// The heatmap's pixels, kept as long as they are right: pooled cells for a viewport, colours for a look.
#pragma once

#include "core/render/heatmap_pixels.h"
#include "widgets/models/heatmap_content.h"

#include <QImage>

#include <functional>
#include <memory>

class QPainter;

namespace ulpscope::plots {

class HeatmapImage {
 public:
  void setContent(const std::shared_ptr<const models::HeatmapContent>& content);
  void setColors(const render::ColorRange& range, render::ColorMap map, render::Theme theme);
  // viewport: in device pixels. paintOver: what is drawn on the pixels, called when they are made anew.
  const QImage& image(const render::Viewport& viewport, double pixelRatio, const std::function<void(QPainter&)>& paintOver);
  void makeAnew() { m_imageIsOld = true; }  // what is painted over is another

 private:
  render::HeatmapLevels m_levels;
  render::PooledCells m_cells;
  render::PixelLook m_look;
  QImage m_image;
  bool m_cellsAreOld = true, m_imageIsOld = true;
};

}  // namespace ulpscope::plots
