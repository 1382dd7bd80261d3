// Below the heatmap: flips with the margin plot, non-finite origins with their diagnosis, the runs side by side, the log.
#pragma once

#include "widgets/models/decisions_model.h"
#include "widgets/models/nonfinite_model.h"
#include "widgets/models/runs_model.h"
#include "widgets/views/workbench.h"

#include <QTabWidget>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QSortFilterProxyModel;
class QTableView;
class QToolButton;

namespace ulpscope::plots {
class MarginPlot;
}

namespace ulpscope::views {

class FindingsPanel : public QTabWidget {
  Q_OBJECT

 public:
  enum Tab { kFlips, kNonfinite, kRuns, kLog };

  explicit FindingsPanel(Workbench& workbench, QWidget* parent = nullptr);
  QString diagnosis() const;   // the one shown and copied
  QString comparison() const;  // "run 1 → run 2: ..."; empty with one run
  QTableView* flipTable() const { return m_flipTable; }
  QTableView* nonfiniteTable() const { return m_nonfiniteTable; }
  QTableView* runTable() const { return m_runTable; }
  QString logText() const;
  void refreshIcons();

 private:
  QWidget* makeFlips();
  QWidget* makeNonfinite();
  QWidget* makeRuns();
  QWidget* makeLog();
  void connectViews();
  void refreshRun();
  void refreshSession();
  void refreshSelection();
  void refreshDiagnosis();
  void chooseRuns();
  void selectFindingRow(const QModelIndex& current);
  void selectFlipRow(const QModelIndex& current);

  Workbench& m_workbench;
  models::DecisionsModel m_decisions;
  models::NonfiniteModel m_nonfinite;
  models::RunsModel m_runs;
  QSortFilterProxyModel* m_flipOrder = nullptr;
  QTableView* m_flipTable = nullptr;
  QToolButton* m_showAll = nullptr;
  QLabel* m_flipSummary = nullptr;
  plots::MarginPlot* m_marginPlot = nullptr;
  QTableView* m_nonfiniteTable = nullptr;
  QLabel* m_diagnosis = nullptr;
  QToolButton* m_copy = nullptr;
  QTableView* m_runTable = nullptr;
  QComboBox* m_chooseA = nullptr;
  QComboBox* m_chooseB = nullptr;
  QLabel* m_comparison = nullptr;
  QPlainTextEdit* m_log = nullptr;
  bool m_isRefreshing = false;
};

}  // namespace ulpscope::views
