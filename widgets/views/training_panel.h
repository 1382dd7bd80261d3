// The session's trainings: one trajectory of one of them as plots and ledger, all its trajectories side by side, and what is to be said.
#pragma once

#include "widgets/jobs/training_loader.h"
#include "widgets/models/training_models.h"
#include "widgets/views/workbench.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;
class QTabWidget;

namespace ulpscope::plots {
class TrainingPlot;
}

namespace ulpscope::views {

class TrainingPanel : public QWidget {
  Q_OBJECT

 public:
  enum Page { kLedger, kTrajectories, kFindings };

  explicit TrainingPanel(Workbench& workbench, QWidget* parent = nullptr);
  QComboBox* trainingBox() const { return m_trainings; }
  QComboBox* trajectoryBox() const { return m_trajectories; }
  QTableView* ledgerTable() const { return m_ledgerTable; }
  QTableView* trajectoryTable() const { return m_trajectoryTable; }
  QTableView* findingTable() const { return m_findingTable; }
  QTabWidget* pages() const { return m_pages; }
  QPushButton* goButton() const { return m_go; }
  plots::TrainingPlot* plot() const { return m_plot; }
  QString summary() const;
  QString verdict() const;
  // The one shown; nullptr: none, or it is being read.
  const models::TrainingPointer& training() const { return m_training; }


 private:
  void makeBoxes();
  void makeTables();
  QWidget* makeTrajectoryPage();
  void connectViews();
  void refreshSession();
  void load();
  void onRunning();
  void addLive(const protocol::LedgerUpdate& update);
  void showLive();
  void show(const models::TrainingPointer& training);
  void showTrajectory(int index);
  void goToTrajectory();
  void selectStep(std::int64_t step);
  void goToModule(const QModelIndex& index);

  Workbench& m_workbench;
  jobs::TrainingLoader m_loader;
  models::TrainingPointer m_training;
  QString m_shownPath;
  int m_shownNumber = 0;  // 0: none
  int m_wanted = 0;       // just trained, to be shown next
  std::shared_ptr<session::Training> m_live;  // that goes on; nullptr: none
  QTimer m_liveTimer;
  models::LedgerModel m_ledger;
  models::TrajectoriesModel m_trajectoriesModel;
  models::TrainingFindingsModel m_findings;
  QComboBox *m_trainings = nullptr, *m_trajectories = nullptr;
  QLabel *m_summary = nullptr, *m_verdict = nullptr;
  QTabWidget* m_pages = nullptr;
  QTableView *m_ledgerTable = nullptr, *m_trajectoryTable = nullptr, *m_findingTable = nullptr;
  QPushButton* m_go = nullptr;
  plots::TrainingPlot* m_plot = nullptr;
};

}  // namespace ulpscope::views
