// Ranges of op sites against the limits of the low format: plot and table.
#pragma once

#include "widgets/models/headroom_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QLabel;
class QTableView;

namespace ulpscope::models {
class NumberOrder;
}

namespace ulpscope::plots {
class HeadroomPlot;
}

namespace ulpscope::views {

class HeadroomPanel : public QWidget {
  Q_OBJECT

 public:
  explicit HeadroomPanel(Workbench& workbench, QWidget* parent = nullptr);
  QTableView* table() const { return m_table; }
  plots::HeadroomPlot* plot() const { return m_plot; }
  QString summary() const;
  // Sites that overflow in the candidate, or whose FP32 range is beyond or within 1 bit of the low format's end.
  int alarming() const { return m_alarming; }

 private:
  void refreshRun();
  void refreshSelection();
  void selectSite(std::int64_t site);

  Workbench& m_workbench;
  models::HeadroomModel m_model;
  models::NumberOrder* m_order = nullptr;
  QTableView* m_table = nullptr;
  QLabel* m_summary = nullptr;
  plots::HeadroomPlot* m_plot = nullptr;
  int m_alarming = 0;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
