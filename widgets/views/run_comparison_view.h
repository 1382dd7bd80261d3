// Runs A and B held against each other: what differs in policy, the verdicts criterion by criterion, what was cured and what was made.
// Every number is core/report's (`ulpscope compare`).
#pragma once

#include "core/report/run_changes.h"
#include "widgets/models/row_table_model.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QLabel;
class QTableView;

namespace ulpscope::views {

// One row a criterion: measured in A and in B, limit, status in each. Key: its id.
class CriteriaChangesModel : public models::RowTableModel {
  Q_OBJECT

 public:
  explicit CriteriaChangesModel(QObject* parent = nullptr);
  void setChanges(const std::vector<report::CriterionChange>& changes);
};

class RunComparisonView : public QWidget {
  Q_OBJECT

 public:
  explicit RunComparisonView(Workbench& workbench, QWidget* parent = nullptr);
  void refresh();
  QString text() const;         // "run 1 → run 2: first non-finite: ... → none   ·   ..."; empty with one run
  QString verdictText() const;  // "verdict: fail → pass"; empty: neither has one
  QString flipsText() const;    // as shown, without its links: "flips: cured 1 (b), made none, in both none"
  QString originsText() const;
  QTableView* criteriaTable() const { return m_criteriaTable; }
  QLabel* flipsLabel() const { return m_flips; }

 private:
  void selectSample(const QString& link);

  Workbench& m_workbench;
  CriteriaChangesModel m_criteria;
  QLabel* m_head = nullptr;
  QLabel* m_policy = nullptr;
  QLabel* m_verdict = nullptr;
  QLabel* m_origins = nullptr;
  QLabel* m_flips = nullptr;
  QTableView* m_criteriaTable = nullptr;
  QString m_flipsText;
};

}  // namespace ulpscope::views
