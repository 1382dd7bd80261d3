// Decisions near the boundary: candidate margin minus reference margin against the reference's margin, both symlog.
#pragma once

#include "core/render/margin_geometry.h"
#include "widgets/models/sample_outcome.h"
#include "widgets/plots/marks.h"

#include <QWidget>

#include <limits>

class QCPItemStraightLine;
class QCustomPlot;

namespace ulpscope::plots {

class PlotLegend;

class MarginPlot : public QWidget {
  Q_OBJECT

 public:
  explicit MarginPlot(QWidget* parent = nullptr);
  // nullptr, or a run without margins: empty. impossibleBeyond: no flip is possible with a larger reference margin; NaN: no line.
  void setRun(const models::RunPointer& run, double impossibleBeyond);
  void setSelectedSample(std::int64_t sample);  // -1: none
  void setMarginBelow(double below);            // a line; +inf: none
  // For tests and other painters: where a sample's point stands, in pixels of the plot; empty: it is not drawn.
  std::optional<QPointF> pixelOf(std::int64_t sample) const;
  QString tooltipOf(std::int64_t sample) const;
  QString legendText() const;
  QWidget* surface() const;

 signals:
  void sampleClicked(std::int64_t sample);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Point {
    std::int64_t sample;
    QPointF at;  // in axis coordinates
    models::Outcome outcome;
    render::MarginPlace place;
  };
  void rebuild();
  void addPoints(const Theme& theme);
  void addGuides(const Theme& theme);
  void setTicks();
  bool hasPlace(render::MarginPlace place) const;
  void setAxes(const Theme& theme);
  void updateOverlay();
  void updateLegend(const Theme& theme);
  void step(int by);
  std::int64_t nearest(QPointF position) const;
  const Point* pointOf(std::int64_t sample) const;

  QCustomPlot* m_plot;
  PlotLegend* m_legend;
  models::RunPointer m_run;
  render::MarginAxes m_axes;
  double m_impossibleBeyond = std::numeric_limits<double>::quiet_NaN();
  double m_below = std::numeric_limits<double>::infinity();
  std::int64_t m_selected = -1;
  bool m_isDrawn = false;  // the overlay can be drawn alone only after all of it was once
  std::vector<Point> m_points;  // by x
};

}  // namespace ulpscope::plots
