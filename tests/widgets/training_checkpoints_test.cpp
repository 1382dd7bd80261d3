// Where a training can be taken up again: marks of the plots' timeline, and a table with what can be done.
#include "training_fixture.h"
#include "widgets/models/training_timeline.h"
#include "widgets/plots/training_plot.h"
#include "widgets/views/checkpoints_page.h"
#include "widgets/views/train_dialog.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>

namespace ulpscope {
namespace {

using models::CheckpointsModel;
using testing::cells;
using testing::sampleTraining;
using testing::TrainingTab;
using views::TrainingPanel;

// Resumed after step 0, with a change; a good and a bad checkpoint; taken back in step 2 to the good one.
session::Training checkpointedTraining() {
  session::Training training = sampleTraining();
  training.checkpoints = {{1, "step-00000001.h5", "aa", true}, {2, "step-00000002.h5", "bb", false}};
  training.resumes = {{1, "step-00000001.h5", "aa", "bf16 from here", {{"autocast.dtype", "\"float16\"", "\"bfloat16\""}}}};
  training.rollback = session::RollbackRecord{2, 1, "max_loss", "the loss is 9, limit 1", "step-00000001.h5", "case-00000002.json"};
  return training;
}

TEST(TrainingTimeline, PutsWhatIsTakenAfterAStepBehindIt) {
  using Kind = models::TimelineMark::Kind;
  const auto marks = models::timelineOf(checkpointedTraining());
  ASSERT_EQ(marks.size(), 4U);
  EXPECT_EQ(marks[0].kind, Kind::goodCheckpoint);
  EXPECT_EQ(marks[0].at, 0.5) << "between step 0 and step 1";
  EXPECT_EQ(marks[1].kind, Kind::resumed);
  EXPECT_EQ(marks[1].label, QStringLiteral("bf16 from here"));
  EXPECT_EQ(marks[2].kind, Kind::badCheckpoint);
  EXPECT_EQ(marks[2].at, 1.5);
  EXPECT_EQ(marks[2].tooltip, QStringLiteral("checkpoint after 2 steps (not one to return to): step-00000002.h5"));
  EXPECT_EQ(marks[3].kind, Kind::rolledBack);
  EXPECT_EQ(marks[3].at, 2) << "the step in which the rule held";
  EXPECT_TRUE(models::timelineOf(session::Training()).empty());
}

TEST(CheckpointsTable, HasAllOfTheTimeline) {
  CheckpointsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setTraining(std::make_shared<const session::Training>(checkpointedTraining()));
  ASSERT_EQ(model.rowCount(), 4);
  EXPECT_EQ(cells(model, 0).join(QStringLiteral(" | ")), QStringLiteral("1 | checkpoint | yes | step-00000001.h5 | "));
  const session::RecipeDifference difference{"autocast.dtype", "\"float16\"", "\"bfloat16\""};
  EXPECT_EQ(cells(model, 1).join(QStringLiteral(" | ")).toStdString(), "1 | resumed | – | step-00000001.h5 | change 'bf16 from here': " + difference.text());
  EXPECT_EQ(cells(model, 2).join(QStringLiteral(" | ")), QStringLiteral("2 | checkpoint | no | step-00000002.h5 | not one to return to"));
  EXPECT_EQ(cells(model, 3).join(QStringLiteral(" | ")), QStringLiteral("2 | rolled back | – | case-00000002.json | step 2, rule max_loss: the loss is 9, limit 1; back to the checkpoint after 1 step"));
  EXPECT_EQ(model.index(0, 0).data(CheckpointsModel::kActionRole).toInt(), CheckpointsModel::kResume);
  EXPECT_EQ(model.index(1, 0).data(CheckpointsModel::kActionRole).toInt(), CheckpointsModel::kNothing);
  EXPECT_EQ(model.index(3, 0).data(CheckpointsModel::kFileRole).toString(), QStringLiteral("case-00000002.json"));
  model.setTraining(nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

class CheckpointsTab : public TrainingTab {
 protected:
  void openCheckpointed() {
    open(write(false, checkpointedTraining()));
    tab().pages()->setCurrentIndex(TrainingPanel::kCheckpoints);
  }
  QString makeFile(const QString& name) {
    const QDir folder(m_folder.filePath(QStringLiteral("training.ulps.d/train-0001.checkpoints")));
    EXPECT_TRUE(folder.mkpath(QStringLiteral(".")));
    QFile file(folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    return file.fileName();
  }
  void select(int row) { page().table()->setCurrentIndex(page().table()->model()->index(row, 0)); }
  views::CheckpointsPage& page() { return *tab().checkpoints(); }
};

TEST_F(CheckpointsTab, IsThereOnlyWithCheckpoints) {
  open(write(false));
  EXPECT_FALSE(tab().pages()->isTabVisible(TrainingPanel::kCheckpoints));
}

TEST_F(CheckpointsTab, NamesChangeAndRollbackInTheHeadline) {
  openCheckpointed();
  EXPECT_TRUE(tab().verdict().contains(QStringLiteral("Resumed after 1 step with the change 'bf16 from here'. Rolled back in step 2 to the checkpoint after 1 step: the loss is 9, limit 1."))) << tab().verdict().toStdString();
  EXPECT_TRUE(tab().plot()->legendText().endsWith(QStringLiteral("good checkpoints: 1, checkpoints not to return to: 1"))) << tab().plot()->legendText().toStdString();
  EXPECT_TRUE(tab().plot()->tooltipOf(2).contains(QStringLiteral("rolled back: step 2")));
  EXPECT_TRUE(tab().plot()->accessibleDescription().contains(QStringLiteral("change 'bf16 from here'")));
  EXPECT_EQ(tab().pages()->tabText(TrainingPanel::kCheckpoints), QStringLiteral("Checkpoints (4)"));
}

TEST_F(CheckpointsTab, SaysWhyNothingCanBeDone) {
  openCheckpointed();
  EXPECT_FALSE(page().resumeButton()->isEnabled());
  EXPECT_TRUE(page().resumeButton()->toolTip().endsWith(QStringLiteral(": select a checkpoint")));
  EXPECT_TRUE(page().replayButton()->toolTip().endsWith(QStringLiteral(": select a rollback")));
  select(0);
  EXPECT_FALSE(page().resumeButton()->isEnabled());
  EXPECT_TRUE(page().resumeButton()->toolTip().contains(QStringLiteral("step-00000001.h5 is not there"))) << page().resumeButton()->toolTip().toStdString();
  makeFile(QStringLiteral("step-00000001.h5"));
  select(1);
  select(0);
  EXPECT_TRUE(page().resumeButton()->isEnabled());
  page().setBusy(true);
  EXPECT_TRUE(page().resumeButton()->toolTip().contains(QStringLiteral("a run is going on")));
  EXPECT_FALSE(page().compareButton()->isEnabled());
}

TEST_F(CheckpointsTab, ReplaysByEnterAndByTheMenu) {
  openCheckpointed();
  const QString file = makeFile(QStringLiteral("case-00000002.json"));
  QSignalSpy spy(&page(), &views::CheckpointsPage::replayRequested);
  page().disconnect(&m_window);
  for (QObject* desk : m_window.children())
    if (desk->inherits("ulpscope::views::TrainingDesk")) page().disconnect(desk);  // no engine is to start
  select(3);
  QTest::keyClick(page().table(), Qt::Key_Return);
  ASSERT_EQ(spy.count(), 1);
  EXPECT_EQ(spy[0][0].toString(), file);
  for (QAction* action : page().table()->actions())
    if (action->text() == QStringLiteral("Replay this case")) action->trigger();
  EXPECT_EQ(spy.count(), 2);
}

TEST_F(CheckpointsTab, ResumesAfterAskingForTheNameOfTheChange) {
  openCheckpointed();
  const QString file = makeFile(QStringLiteral("step-00000002.h5"));
  select(2);
  page().resumeButton()->click();
  auto* dialog = m_window.findChild<views::TrainDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->windowTitle(), QStringLiteral("Resume after 2 steps"));
  EXPECT_TRUE(dialog->changeField()->isVisible());
  dialog->changeField()->setText(QStringLiteral(" bf16 from here "));
  const protocol::TrainRequest request = dialog->request();
  EXPECT_EQ(request.resume, file.toStdString());
  EXPECT_EQ(request.change, "bf16 from here");
  EXPECT_EQ(request.recipePath, QFileInfo(file).absolutePath().toStdString() + "/recipe.json");
  EXPECT_TRUE(request.append) << "into the session that has the checkpoint";
}

}  // namespace
}  // namespace ulpscope
