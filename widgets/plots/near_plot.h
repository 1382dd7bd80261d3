// How near samples are to deciding otherwise: FP32's smallest step to a flip against the candidate's, and beside it the whole set's margins
// against its errors. Own painting; geometry: core/render/near_map.h.
#pragma once

#include "core/render/near_map.h"
#include "widgets/models/loaded_scan.h"
#include "widgets/plots/chart_paint.h"
#include "widgets/plots/chart_widget.h"

#include <array>
#include <optional>
#include <vector>

namespace ulpscope::plots {

class NearPlot : public ChartWidget {
  Q_OBJECT

 public:
  enum Part { kSteps, kSet, kPartCount };

  explicit NearPlot(QWidget* parent = nullptr);
  void setScan(const models::ScanPointer& scan);  // without samples: empty
  void setSelected(const QString& sampleId);      // empty: none
  QRectF areaOf(Part part) const { return m_charts[part].area; }
  std::optional<QPointF> pixelOf(Part part, const QString& sampleId) const;  // in pixels of the widget; empty: it has no point there
  QString tooltipOf(const QString& sampleId) const;
  std::vector<LegendEntry> legend() const override;

 signals:
  void sampleChosen(const QString& id);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  struct Point {
    QString id;
    QPointF at;
    MarkStyle style;
  };
  const session::NearScan* near() const { return m_scan && m_scan->scan.near ? &*m_scan->scan.near : nullptr; }
  void layOut() override;
  void placePoints();
  void step(int by);
  QString nearest(QPointF position) const;
  void paintSteps(QPainter& painter) const;
  void paintSet(QPainter& painter) const;
  double xOfRank(std::size_t rank) const;

  models::ScanPointer m_scan;
  QString m_selected;
  std::array<Chart, kPartCount> m_charts;
  std::array<std::vector<Point>, kPartCount> m_points;
};

}  // namespace ulpscope::plots
