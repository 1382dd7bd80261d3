// The runs of the session: which two are A and B, which is the baseline, their names; deleting and restoring them; and below, what changed
// from A to B.
#pragma once

#include "widgets/models/runs_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QAction;
class QMenu;
class QSortFilterProxyModel;
class QSplitter;
class QTableView;
class QToolButton;

namespace ulpscope::views {

class RunComparisonView;

class RunsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RunsPanel(Workbench& workbench, QWidget* parent = nullptr);
  QString comparison() const;  // "run 1 → run 2: first non-finite: ... → none"; empty with one run
  QTableView* table() const { return m_table; }
  RunComparisonView* comparisonView() const { return m_comparison; }
  QToolButton* deletedButton() const { return m_deletedButton; }
  void selectRun(const QString& runId);
  QModelIndex indexOf(const QString& runId, int column) const;  // in the table's model

  enum Act { kShowA, kShowB, kBaseline, kRename, kDelete, kActCount };
  QAction* action(Act act) const { return m_actions[act]; }

 protected:
  // Low and wide, as a dock below the heatmap is: the comparison beside the table. High: below it.
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeTable();
  void makeActions(QWidget* bar);
  void refresh();
  bool followsB(const QString& idA, const QString& idB);
  void refreshActions();
  void refreshDeleted();
  void act(Act act);
  QString currentRun() const;  // id; empty: none

  Workbench& m_workbench;
  models::RunsModel m_model;
  QSortFilterProxyModel* m_order = nullptr;
  QSplitter* m_split = nullptr;
  QTableView* m_table = nullptr;
  RunComparisonView* m_comparison = nullptr;
  QAction* m_actions[kActCount] = {};
  QToolButton* m_deletedButton = nullptr;
  QMenu* m_deletedMenu = nullptr;
  QStringList m_shown;  // A and B as they were; their session
};

}  // namespace ulpscope::views
