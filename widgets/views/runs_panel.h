// The runs of the session: which two are A and B, and what changed from A to B.
#pragma once

#include "widgets/models/runs_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QTableView;

namespace ulpscope::views {

class RunsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RunsPanel(Workbench& workbench, QWidget* parent = nullptr);
  QString comparison() const;  // "first non-finite: ... → none"; empty with one run
  QTableView* table() const { return m_table; }

 private:
  void refresh();
  void chooseRuns();

  Workbench& m_workbench;
  models::RunsModel m_model;
  QTableView* m_table = nullptr;
  QComboBox* m_chooseA = nullptr;
  QComboBox* m_chooseB = nullptr;
  QLabel* m_comparison = nullptr;
};

}  // namespace ulpscope::views
