// The locked criteria and what the shown run measured against each; or that there are none, and the way to some.
#pragma once

#include "widgets/models/verdict_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QTableView;

namespace ulpscope::views {

class CriteriaPanel : public QWidget {
  Q_OBJECT

 public:
  explicit CriteriaPanel(Workbench& workbench, QWidget* parent = nullptr);
  QString summary() const;
  QTableView* table() const { return m_table; }
  QPushButton* validateButton() const { return m_validate; }

 signals:
  void validateRequested();
  void reviseRequested();

 private:
  void refresh();

  Workbench& m_workbench;
  models::VerdictModel m_model;
  QLabel* m_summary;
  QPushButton* m_validate;
  QPushButton* m_revise;
  QTableView* m_table;
};

}  // namespace ulpscope::views
