// Time and memory of the shown run's policy against FP32: why it may not be measured, the way to measure it, and what was measured last with
// everything it hangs on.
#pragma once

#include "widgets/jobs/benchmark_job.h"
#include "widgets/views/workbench.h"

#include <QWidget>

#include <optional>

class QGridLayout;
class QLabel;
class QPushButton;

namespace ulpscope::views {

class BenchmarkPanel : public QWidget {
  Q_OBJECT

 public:
  explicit BenchmarkPanel(Workbench& workbench, QWidget* parent = nullptr);

  // Why the shown run cannot be timed now, and what to do, in one sentence; empty: it can.
  QString whyOff() const;
  QString state() const;     // whyOff(), what goes on, or what it would do
  QString headline() const;  // of what is shown; empty: nothing was measured
  QString details() const;   // its rows, one a line
  QPushButton* runButton() const { return m_run; }
  QPushButton* cancelButton() const { return m_cancel; }
  bool isRunning() const { return m_job.isRunning(); }

 private:
  void start();
  void refresh();
  void refreshState();
  void refreshResult();
  QString shownKey() const;  // the session and run that are shown
  void finish(const QString& notice);
  std::optional<session::Benchmark> shownBenchmark() const;

  Workbench& m_workbench;
  jobs::BenchmarkJob m_job;
  QString m_stage;    // of the one that goes on
  QString m_outcome;  // of the last that gave no result
  QString m_timed;    // session and run of the one that goes on or ended last
  std::optional<session::Benchmark> m_unstored;  // measured, and in no session
  QLabel *m_state, *m_headline;
  QWidget* m_rows = nullptr;
  QGridLayout* m_layout;
  QPushButton *m_run, *m_cancel;
};

}  // namespace ulpscope::views
