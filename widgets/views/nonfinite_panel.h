// Where NaN and inf arise: the origins in the order they ran, and the diagnosis of the one selected.
#pragma once

#include "widgets/models/nonfinite_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QLabel;
class QTableView;
class QToolButton;

namespace ulpscope::views {

class NonfinitePanel : public QWidget {
  Q_OBJECT

 public:
  explicit NonfinitePanel(Workbench& workbench, QWidget* parent = nullptr);
  QString diagnosis() const;  // the one shown and copied
  QTableView* table() const { return m_table; }
  void refreshIcons();

 private:
  void refreshRun();
  void refreshSelection();
  void refreshDiagnosis();
  void selectRow(const QModelIndex& current);

  Workbench& m_workbench;
  models::NonfiniteModel m_model;
  QTableView* m_table = nullptr;
  QLabel* m_diagnosis = nullptr;
  QToolButton* m_copy = nullptr;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
