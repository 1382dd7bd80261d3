#include "widgets/plots/heatmap_image.h"

#include <QPainter>

#include <bit>

namespace ulpscope::plots {

// Format_RGB32 is 0xffRRGGBB as a number: bytes B, G, R, 0xff on the machines that Ulpscope runs on.
static_assert(std::endian::native == std::endian::little);

void HeatmapImage::setContent(const std::shared_ptr<const models::HeatmapContent>& content) {
  m_cellsAreOld = m_imageIsOld = true;
  if (!content || !content->cells)
    m_levels = {};
  else if (m_levels.sharedData() == content->cells && m_levels.columnCount() == content->columnCount())
    m_levels = m_levels.reordered(content->columns);
  else
    m_levels = render::HeatmapLevels(content->cells, content->columns);
}

void HeatmapImage::setColors(const render::ColorRange& range, render::ColorMap map, render::Theme theme) {
  m_look = {range, map, theme, render::PixelOrder::bgra};
  m_imageIsOld = true;
}

const QImage& HeatmapImage::image(const render::Viewport& viewport, double pixelRatio, const std::function<void(QPainter&)>& paintOver) {
  if (m_cellsAreOld || m_cells.viewport != viewport) {
    render::pool(m_cells, m_levels, viewport);
    m_cellsAreOld = false;
    m_imageIsOld = true;
  }
  if (!m_imageIsOld && m_image.devicePixelRatio() == pixelRatio) return m_image;
  // Without holes it is drawn by copying.
  const QImage::Format format = m_cells.hasOutside ? QImage::Format_ARGB32_Premultiplied : QImage::Format_RGB32;
  if (m_image.size() != QSize(viewport.width, viewport.height) || m_image.format() != format) m_image = QImage(viewport.width, viewport.height, format);
  render::paintPixels(m_cells, m_look, m_image.bits());
  m_image.setDevicePixelRatio(pixelRatio);
  QPainter painter(&m_image);
  paintOver(painter);
  m_imageIsOld = false;
  return m_image;
}

}  // namespace ulpscope::plots
