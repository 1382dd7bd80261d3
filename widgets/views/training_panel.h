// The session's trainings: one trajectory of one of them as plots and ledger, all its trajectories side by side, what is to be said, and where
// it can be taken up again.
#pragma once

#include "widgets/jobs/training_loader.h"
#include "widgets/models/training_models.h"
#include "widgets/models/training_summary.h"
#include "widgets/views/live_training.h"
#include "widgets/views/workbench.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QSplitter;
class QTableView;
class QTabWidget;

namespace ulpscope::plots {
class TrainingPlot;
}

namespace ulpscope::views {

class CheckpointsPage;
class LedgerPage;

class TrainingPanel : public QWidget {
  Q_OBJECT

 public:
  enum Page { kLedger, kTrajectories, kFindings, kCheckpoints };

  explicit TrainingPanel(Workbench& workbench, QWidget* parent = nullptr);
  QComboBox* trainingBox() const { return m_trainings; }
  QComboBox* trajectoryBox() const { return m_trajectories; }
  LedgerPage* ledger() const { return m_ledger; }
  QTableView* ledgerTable() const;
  QTableView* trajectoryTable() const { return m_trajectoryTable; }
  QTableView* findingTable() const { return m_findingTable; }
  CheckpointsPage* checkpoints() const { return m_checkpoints; }
  QTabWidget* pages() const { return m_pages; }
  QPushButton* goButton() const { return m_go; }
  plots::TrainingPlot* plot() const { return m_plot; }
  QString summary() const;
  QString alarms() const;   // of the trajectory shown; empty: none
  QString verdict() const;  // with where the training was taken up again and back
  // The one shown; nullptr: none, or it is being read.
  const models::TrainingPointer& training() const { return m_training; }
  std::optional<models::TrainingStanding> standing() const;  // of the one shown

 signals:
  void standingChanged();
  void moduleShown();  // a finding's module was selected: its tree is to be seen

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeBoxes();
  void makeHeadline();
  void makeTables();
  QWidget* makeTrajectoryPage();
  void connectViews();
  void connectTables();
  void refreshSession();
  void load();
  void beginLive();
  void showLive();
  void show(const models::TrainingPointer& training, int run);
  void showTrajectory(int index);
  void showHeadline(const session::Trajectory* run);
  void goToTrajectory();
  void goToModule(const QString& modulePath, const QString& text);
  void refreshColors();

  Workbench& m_workbench;
  jobs::TrainingLoader m_loader;
  LiveTraining m_live;
  models::TrainingPointer m_training;
  QString m_shownPath;
  QString m_chosen;       // trajectory chosen while a training goes on; empty: the one that runs is followed
  int m_shownNumber = 0;  // 0: none
  int m_wanted = 0;       // just trained, to be shown next
  models::TrajectoriesModel m_trajectoriesModel;
  models::TrainingFindingsModel m_findings;
  QComboBox *m_trainings = nullptr, *m_trajectories = nullptr;
  QLabel *m_verdict = nullptr, *m_alarms = nullptr, *m_summary = nullptr;
  QTabWidget* m_pages = nullptr;
  LedgerPage* m_ledger = nullptr;
  CheckpointsPage* m_checkpoints = nullptr;
  QTableView *m_trajectoryTable = nullptr, *m_findingTable = nullptr;
  QPushButton* m_go = nullptr;
  QSplitter* m_splitter = nullptr;
  plots::TrainingPlot* m_plot = nullptr;
};

}  // namespace ulpscope::views
