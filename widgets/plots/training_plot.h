// A trajectory over its steps: loss, scale with the skipped steps, gradient norm with the share of zeros; one above the other. Below the loss
// its checkpoints; across all of them where it was taken up again and back.
#pragma once

#include "core/render/training_axes.h"
#include "core/session/training.h"
#include "widgets/models/training_timeline.h"
#include "widgets/plots/marks.h"

#include <QWidget>

#include <array>
#include <memory>
#include <optional>

class QCPAxis;
class QCPAxisRect;
class QCPGraph;
class QCustomPlot;

namespace ulpscope::plots {

class PlotLegend;

class TrainingPlot : public QWidget {
  Q_OBJECT

 public:
  enum Chart { kLoss, kScale, kGradients, kChartCount };
  struct Content {
    std::shared_ptr<const session::Trajectory> run;   // nullptr: empty
    std::shared_ptr<const session::Trajectory> fp32;  // whose loss stands beside; nullptr: none
    std::vector<models::TimelineMark> timeline = {};
  };

  explicit TrainingPlot(QWidget* parent = nullptr);
  void setContent(Content content);
  void setSelectedStep(std::optional<std::int64_t> step);
  // Texts of the labelled ticks of a chart's left axis, from below.
  QStringList tickLabels(Chart chart) const;
  // For tests: where a line of the ledger stands in a chart, in pixels of the surface; empty: there is no such line.
  std::optional<QPointF> pixelOf(Chart chart, std::size_t line) const;
  QRect areaOf(Chart chart) const;  // in pixels of the surface
  std::optional<std::int64_t> selectedStep() const { return m_selected; }
  QString tooltipOf(std::int64_t step) const;
  QString legendText() const;
  QWidget* surface() const;

 signals:
  void stepClicked(std::int64_t step);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // What a chart draws of a ledger line; empty: it was not recorded.
  using ValueOf = std::optional<double> (*)(const session::LedgerLine&);
  void makeRects();
  void rebuild();
  void setAxes();
  void setTicks();
  void addCharts();
  QCPGraph* addGraph(QCPAxis* y, const QPen& pen);
  void addLine(QCPAxis* y, const session::Trajectory& run, ValueOf value, const QPen& pen);
  void addSkips();
  void addEdgeMarks(Chart chart, ValueOf value);
  void addScaleOfOne();
  void addTimeline();
  void addTimelineLine(const models::TimelineMark& mark);
  void addMarks(QCPAxis* y, const MarkStyle& style, const std::vector<QPointF>& points);
  void updateLegend();
  void updateOverlay();
  std::vector<LegendEntry> lineEntries() const;
  std::vector<LegendEntry> markEntries() const;
  std::int64_t firstStep() const;
  std::int64_t lastStep() const;  // -1: there are none
  std::int64_t nearestStep(double pixelX) const;
  const render::ValueAxis& axisOf(const QCPAxis* y) const;

  QCustomPlot* m_plot;
  PlotLegend* m_legend;
  Content m_content;
  std::array<QCPAxisRect*, kChartCount> m_rects{};
  std::array<render::ValueAxis, kChartCount> m_axes;
  std::array<std::array<int, 4>, kChartCount> m_edgeMarks{};  // drawn of +inf, -inf, NaN, 0 in each chart
  std::optional<std::int64_t> m_selected;
  bool m_isDrawn = false;  // the overlay can be drawn alone only after all of it was once
};

}  // namespace ulpscope::plots
