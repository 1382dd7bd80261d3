// The module maximum of each heatmap row, beside the heatmap and on its rows.
#pragma once

#include "core/render/heatmap.h"

#include <QWidget>

#include <vector>

namespace ulpscope::plots {

class ProfilePlot : public QWidget {
  Q_OBJECT

 public:
  struct Content {
    std::vector<render::Cell> maxima;  // one a row
    render::ColorRange range;
    bool isSigned = false;  // a difference: 0 in the middle
    double tolerance = 0;   // 0: no line
  };

  explicit ProfilePlot(QWidget* parent = nullptr);
  void setContent(const Content& content);
  // Rows and pixels of the heatmap's plot.
  void setRows(double first, double last, int top, int bottom);
  void setHighlight(std::int64_t row);  // -1: none
  // Where a value stands, in widget coordinates: the same part of the range as its colour.
  double xOf(double value) const;

 signals:
  void rowClicked(std::int64_t row);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  QRectF plotRect() const;
  double atShare(double share) const;  // of the range; a little over 1: the rug of non-finite rows
  double rowAt(double y) const;
  render::Cell worstOf(double firstRow, double lastRow) const;
  void paintAxis(QPainter& painter) const;
  void paintLine(QPainter& painter) const;
  void paintNonfinite(QPainter& painter) const;

  Content m_content;
  double m_firstRow = 0, m_lastRow = 1;
  int m_top = 10, m_bottom = 100;
  std::int64_t m_highlight = -1;
};

}  // namespace ulpscope::plots
