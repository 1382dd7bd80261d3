// Below the heatmap: a tab for each kind of finding, the runs side by side, the log.
#pragma once

#include "widgets/views/workbench.h"

#include <QTabWidget>

class QPlainTextEdit;
class QPushButton;
class QTableView;

namespace ulpscope::views {

class BenchmarkPanel;
class BoundaryPanel;
class CriteriaPanel;
class FlipsPanel;
class HeadroomPanel;
class NonfinitePanel;
class OperatorsPanel;
class RunsPanel;
class TrainingPanel;

class FindingsPanel : public QTabWidget {
  Q_OBJECT

 public:
  enum Tab { kFlips, kBoundary, kNonfinite, kHeadroom, kCriteria, kRuns, kBenchmark, kTraining, kOperators, kLog };

  explicit FindingsPanel(Workbench& workbench, QWidget* parent = nullptr);
  FlipsPanel* flips() const { return m_flips; }
  BoundaryPanel* boundary() const { return m_boundary; }
  NonfinitePanel* nonfinite() const { return m_nonfinite; }
  CriteriaPanel* criteria() const { return m_criteria; }
  HeadroomPanel* headroom() const { return m_headroom; }
  RunsPanel* runs() const { return m_runs; }
  BenchmarkPanel* benchmark() const { return m_benchmark; }
  TrainingPanel* training() const { return m_training; }  // its tab is there where the session has trainings
  OperatorsPanel* operators() const { return m_operators; }
  QString diagnosis() const;
  QString comparison() const;
  QTableView* flipTable() const;
  QTableView* nonfiniteTable() const;
  QTableView* runTable() const;
  QString logText() const;  // "14:02:31  loading" a line, local time
  QPushButton* copyLogButton() const { return m_copyLog; }
  void refreshIcons();

 private:
  QWidget* makeLog();
  void log(const QString& text);
  void refreshCounts();

  Workbench& m_workbench;
  FlipsPanel* m_flips = nullptr;
  BoundaryPanel* m_boundary = nullptr;
  NonfinitePanel* m_nonfinite = nullptr;
  CriteriaPanel* m_criteria = nullptr;
  HeadroomPanel* m_headroom = nullptr;
  RunsPanel* m_runs = nullptr;
  BenchmarkPanel* m_benchmark = nullptr;
  TrainingPanel* m_training = nullptr;
  OperatorsPanel* m_operators = nullptr;
  QPlainTextEdit* m_log = nullptr;
  QPushButton* m_copyLog = nullptr;
};

}  // namespace ulpscope::views
