// One map of a tensor's slice (reference, candidate or difference) with its title and scale bar.
#pragma once

#include "widgets/models/tensor_look.h"

#include <QImage>
#include <QWidget>

namespace ulpscope::plots {

class TensorMapView : public QWidget {
  Q_OBJECT

 public:
  TensorMapView(render::MapSide side, QWidget* parent = nullptr);

  void setPicture(const models::TensorPicturePointer& picture);  // nullptr: empty
  void setSelected(std::int64_t element);                        // -1: none
  void setHovered(std::int64_t element);                         // marked faintly, in all maps at once; -1: none
  std::int64_t selected() const { return m_selected; }
  QString title() const { return m_title; }
  QString scaleText() const;  // "from -3 to 4.2", "from -3 to 202,069, logarithmic beyond ±0.5"
  // Where an element is drawn, in widget coordinates; nullopt: not in this slice.
  std::optional<QPoint> centerOf(std::int64_t element) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void elementHovered(std::int64_t element);  // -1: the pointer left
  void elementChosen(std::int64_t element);   // by mouse or key

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRect pictureRect() const;
  QRectF cellRect(render::CellIndex cell) const;
  std::optional<render::CellIndex> cellOf(std::int64_t element) const;
  std::int64_t elementUnder(const QPointF& position) const;
  std::int64_t elementIn(render::CellIndex cell) const;
  const render::HeatmapLevels& cells() const { return m_picture->maps[m_side]; }
  const render::ValueScale& scale() const;
  render::ColorMap colorMap() const { return m_side == render::MapSide::difference ? render::ColorMap::vik : render::ColorMap::viridis; }
  void moveBy(std::int64_t rows, std::int64_t columns);
  void updateImage(const QRect& rect);
  void paintScale(QPainter& painter, const QRect& picture) const;
  void paintFrame(QPainter& painter, std::int64_t element, bool isSelected) const;

  render::MapSide m_side;
  models::TensorPicturePointer m_picture;
  QString m_title;
  std::int64_t m_selected = -1, m_hovered = -1;
  QImage m_image;
};

}  // namespace ulpscope::plots
