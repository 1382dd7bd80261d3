// A scan from one sample to another over t: what each run decides as strips, scores and margins below them, where the runs disagree shaded
// through all of it. Own painting; geometry: core/render/scan_strip.h.
#pragma once

#include "core/render/scan_strip.h"
#include "widgets/models/loaded_scan.h"
#include "widgets/plots/chart_paint.h"
#include "widgets/plots/chart_widget.h"

#include <array>
#include <optional>
#include <vector>

namespace ulpscope::plots {

class BoundaryPlot : public ChartWidget {
  Q_OBJECT

 public:
  enum Part { kStrips, kScores, kMargins, kPartCount };

  explicit BoundaryPlot(QWidget* parent = nullptr);
  // overlay: a comparable scan whose candidate is drawn beside; nullptr: none. Without a segment: empty. All of it is shown.
  void setScans(const models::ScanPointer& scan, const models::ScanPointer& overlay);
  void setCursor(int point);  // index into LoadedScan::points, brought into view; -1: none
  int cursor() const { return m_cursor; }
  void showAll();
  void showStretch(const session::Stretch& stretch);  // in the middle third
  void zoomBy(double factor);                         // about the cursor, or the middle
  const render::TimeView& view() const { return m_view; }

  // For tests and other painters, in pixels of the widget.
  QRectF areaOf(Part part) const { return m_areas[part]; }  // empty: it is not drawn
  double xOf(double t) const { return m_areas[kStrips].left() + m_view.xOf(t); }
  QString tooltipOf(int point) const;
  std::vector<LegendEntry> legend() const override;

 signals:
  void pointChosen(int point);
  void viewChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  // A line of values over t.
  struct Series {
    std::vector<render::TimedValue> values;
    int decision = session::kNoDecision;  // whose colour it has
    QString label;                        // beside its end; empty: none
  };
  struct Strip {
    QString name;
    std::vector<render::DecisionBand> bands;  // in the scan's decisions
  };
  void rebuild();
  void layOut() override;
  void setView(const render::TimeView& view);
  void step(int by);
  void choose(int point);
  int pointAt(double x) const;
  const session::SegmentScan* segment() const { return m_scan && m_scan->scan.segment ? &*m_scan->scan.segment : nullptr; }
  double stripHeight() const;
  Chart chartOf(Part part) const;
  void paintEmpty(QPainter& painter) const;
  void paintStrips(QPainter& painter) const;
  void paintStrip(QPainter& painter, const Strip& strip, const QRectF& area) const;
  void paintLane(QPainter& painter) const;
  void paintShades(QPainter& painter) const;
  void paintScores(QPainter& painter) const;
  void paintLabels(QPainter& painter, const Chart& chart) const;
  void paintMargins(QPainter& painter) const;
  void paintBound(QPainter& painter, const Chart& chart) const;
  void paintTimeAxis(QPainter& painter) const;
  void paintCursor(QPainter& painter) const;

  models::ScanPointer m_scan, m_overlay;
  std::vector<Strip> m_strips;
  std::vector<Series> m_referenceScores, m_candidateScores;
  Series m_referenceMargin, m_candidateMargin, m_overlayMargin, m_bound, m_noise;
  std::array<QRectF, kPartCount> m_areas;
  render::TimeView m_view;
  int m_cursor = -1;
  std::optional<double> m_draggedFrom;
  bool m_isDragging = false;
};

}  // namespace ulpscope::plots
