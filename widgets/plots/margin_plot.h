// Decisions near the boundary: candidate margin minus reference margin, against the reference's margin.
#pragma once

#include "core/session/run_record.h"

#include <QWidget>

class QCustomPlot;

namespace ulpscope::plots {

class MarginPlot : public QWidget {
  Q_OBJECT

 public:
  explicit MarginPlot(QWidget* parent = nullptr);
  // nullptr or no decisions: empty. run must live until the next call.
  void setRun(const session::RunRecord* run);
  void setSelectedSample(std::int64_t sample);  // -1: none

 signals:
  void sampleClicked(std::int64_t sample);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void rebuild();
  void pick(QPointF position);

  QCustomPlot* m_plot;
  const session::RunRecord* m_run = nullptr;
  std::int64_t m_selected = -1;
  std::vector<QPointF> m_points;  // in plot coordinates, one a sample; NaN x: not drawn
};

}  // namespace ulpscope::plots
