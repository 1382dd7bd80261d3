// Flipped decisions: the table, and the margin plot beside it.
#pragma once

#include "widgets/models/decisions_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QLabel;
class QSortFilterProxyModel;
class QTableView;
class QToolButton;

namespace ulpscope::plots {
class MarginPlot;
}

namespace ulpscope::views {

class FlipsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit FlipsPanel(Workbench& workbench, QWidget* parent = nullptr);
  QTableView* table() const { return m_table; }

 private:
  void refreshRun();
  void refreshSelection();
  void selectRow(const QModelIndex& current);

  Workbench& m_workbench;
  models::DecisionsModel m_decisions;
  QSortFilterProxyModel* m_order = nullptr;
  QTableView* m_table = nullptr;
  QToolButton* m_showAll = nullptr;
  QLabel* m_summary = nullptr;
  plots::MarginPlot* m_marginPlot = nullptr;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
