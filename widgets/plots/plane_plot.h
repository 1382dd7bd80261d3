// A scan of the plane through three samples: regions of FP32's decisions, both runs' boundaries as contours, where they differ hatched.
// Own painting; geometry: core/render/plane_map.h.
#pragma once

#include "core/render/plane_map.h"
#include "widgets/models/loaded_scan.h"
#include "widgets/plots/chart_paint.h"
#include "widgets/plots/chart_widget.h"

#include <QImage>

#include <array>
#include <vector>

namespace ulpscope::plots {

class PlanePlot : public ChartWidget {
  Q_OBJECT

 public:
  explicit PlanePlot(QWidget* parent = nullptr);
  // overlay: a comparable scan whose candidate's boundary is drawn too; nullptr: none. Without a plane: empty.
  void setScans(const models::ScanPointer& scan, const models::ScanPointer& overlay);
  void setCursor(int point);  // index into PlaneScan::points; -1: none
  int cursor() const { return m_cursor; }
  // For tests: in pixels of the widget.
  QRectF area() const { return m_area; }
  QPointF pixelOf(int point) const;
  QString tooltipOf(int point) const;
  std::vector<LegendEntry> legend() const override;

 signals:
  void pointChosen(int point);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  const session::PlaneScan* plane() const { return m_scan && m_scan->scan.plane ? &*m_scan->scan.plane : nullptr; }
  void layOut() override;
  void choose(int point);
  int pointAt(QPointF position) const;
  QPointF pixelAt(const render::GridPlace& place) const;
  void paintMap(QPainter& painter);
  void paintContour(QPainter& painter, const std::vector<render::BoundaryPiece>& pieces, const QPen& pen) const;
  void paintSamples(QPainter& painter) const;
  void paintAxes(QPainter& painter) const;
  void paintCursor(QPainter& painter) const;
  void paintNames(QPainter& painter) const;

  models::ScanPointer m_scan, m_overlay;
  std::vector<render::BoundaryPiece> m_reference, m_candidate, m_overlaid;
  QRectF m_area;
  QImage m_image;  // of the map, in device pixels; null: to be made
  int m_cursor = -1;
};

}  // namespace ulpscope::plots
