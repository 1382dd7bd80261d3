// The module maximum of each heatmap row, beside the heatmap and on its rows.
#pragma once

#include "core/render/heatmap.h"

#include <QWidget>

#include <vector>

class QCustomPlot;

namespace ulpscope::plots {

class ProfilePlot : public QWidget {
  Q_OBJECT

 public:
  struct Content {
    std::vector<render::Cell> maxima;  // one a row
    render::ColorRange range;
    bool isSigned = false;  // a difference: symlog axis
    double tolerance = 0;   // 0: no line
  };

  explicit ProfilePlot(QWidget* parent = nullptr);
  void setContent(const Content& content);
  // Rows and pixels of the heatmap's plot.
  void setRows(double first, double last, int top, int bottom);
  void setHighlight(std::int64_t row);  // -1: none

 signals:
  void rowClicked(std::int64_t row);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void rebuild();
  double position(double value) const;

  QCustomPlot* m_plot;
  Content m_content;
  double m_firstRow = 0, m_lastRow = 1;
  int m_top = 10, m_bottom = 100;
  std::int64_t m_highlight = -1;
};

}  // namespace ulpscope::plots
