// The colour bar beside its map: decades, tolerance tick, triangles where values lie beyond the ends.
#pragma once

#include "core/render/heatmap.h"

#include <QWidget>

namespace ulpscope::plots {

class ColorBar : public QWidget {
  Q_OBJECT

 public:
  struct Content {
    render::ColorRange range;
    render::ColorMap map = render::ColorMap::viridis;
    QString title;         // the metric's words
    double tolerance = 0;  // 0: no tick
    bool valuesBelow = false, valuesAbove = false;  // beyond the ends
  };

  explicit ColorBar(QWidget* parent = nullptr);
  void setContent(const Content& content);
  // Top and bottom of the heatmap's plot, so that both stand side by side.
  void setSpan(int top, int bottom);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QRect barRect() const;
  double yOf(double value) const;

  Content m_content;
  int m_top = 10;
  int m_bottom = 40;
};

}  // namespace ulpscope::plots
