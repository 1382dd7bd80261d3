// The Training tab.
#include "training_fixture.h"
#include "widgets/plots/training_plot.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/ledger_page.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/step_strip.h"

#include <QComboBox>
#include <QDockWidget>
#include <QFile>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTreeView>

namespace ulpscope {
namespace {

using models::LedgerModel;
using plots::TrainingPlot;
using testing::sampleTraining;
using testing::TrainingTab;
using views::FindingsPanel;
using views::TrainingPanel;

TEST_F(TrainingTab, IsHiddenWithoutTrainings) {
  m_window.openSession(testing::writeSample(m_folder, 1));
  ASSERT_TRUE(testing::waitFor([this] { return m_window.workbench().runB() != nullptr; }));
  EXPECT_FALSE(m_window.findings()->isTabVisible(FindingsPanel::kTraining));
}

TEST_F(TrainingTab, OpensASessionThatHasTrainingsAndNoRuns) {
  open(write(false));
  EXPECT_EQ(m_window.page(), m_window.heatmap());
  EXPECT_TRUE(tab().isVisible());
  EXPECT_FALSE(m_window.findings()->visibleRegion().isEmpty());
  EXPECT_GT(tab().height(), m_window.height() / 3) << "there is nothing else to see";
  EXPECT_EQ(tab().trainingBox()->currentText(), QStringLiteral("1: FP16, scaler, 1 of 3 steps skipped"));
  EXPECT_EQ(tab().trajectoryBox()->currentText(), QStringLiteral("recipe (autocast on, scaling on)"));
  EXPECT_EQ(tab().alarms(), QStringLiteral("1 alarm: the loss is not finite (step 1)  ·  1 time against the order, first clip_before_unscale (step 2)"));
  EXPECT_EQ(tab().verdict(), QStringLiteral("Verdict: fail: alarms 1, limit 0"));
  EXPECT_FALSE(m_window.heatmap()->isVisible()) << "it would be empty";
  EXPECT_EQ(tab().summary(), QStringLiteral("2 of 3 steps applied  ·  skipped: 0  ·  loss 0.75 to 0.5  ·  scale 32,768 at the end"));
}

TEST_F(TrainingTab, MarksSkippedAndNonfiniteStepsInThePlots) {
  open(write(false));
  EXPECT_EQ(tab().plot()->legendText(), QStringLiteral("this trajectory, loss in FP32, zero share, skipped: 1, +inf: grad. norm 1, NaN: loss 1"));
  const auto isAtTop = [this](TrainingPlot::Chart chart, std::size_t l) {
    const QRect area = tab().plot()->areaOf(chart);
    const double y = tab().plot()->pixelOf(chart, l)->y();
    return area.contains(tab().plot()->pixelOf(chart, l)->toPoint()) && y < area.top() + area.height() / 5.0;
  };
  EXPECT_TRUE(isAtTop(TrainingPlot::kLoss, 1)) << "NaN";
  EXPECT_TRUE(isAtTop(TrainingPlot::kGradients, 0)) << "+inf";
  EXPECT_FALSE(isAtTop(TrainingPlot::kGradients, 1));
  EXPECT_LT(tab().plot()->pixelOf(TrainingPlot::kScale, 0)->y(), tab().plot()->pixelOf(TrainingPlot::kScale, 1)->y()) << "65,536 stands above 32,768";
  EXPECT_DOUBLE_EQ(tab().plot()->pixelOf(TrainingPlot::kLoss, 2)->x(), tab().plot()->pixelOf(TrainingPlot::kGradients, 2)->x()) << "one step axis";
}

TEST_F(TrainingTab, LinksLedgerAndPlotsBothWays) {
  open(write(false));
  tab().ledgerTable()->setCurrentIndex(tab().ledgerTable()->model()->index(1, 0));
  EXPECT_EQ(tab().plot()->selectedStep(), 1);
  QTest::mouseClick(tab().plot()->surface(), Qt::LeftButton, {}, tab().plot()->pixelOf(TrainingPlot::kScale, 2)->toPoint());
  EXPECT_EQ(tab().ledgerTable()->currentIndex().row(), 2);
  QTest::keyClick(tab().plot(), Qt::Key_Home);
  EXPECT_EQ(tab().ledgerTable()->currentIndex().row(), 0);
  EXPECT_EQ(tab().plot()->selectedStep(), 0);
}

TEST_F(TrainingTab, GoesFromTheTrajectoriesToALedgerAndFromAFindingToItsStep) {
  open(write(false));
  tab().pages()->setCurrentIndex(TrainingPanel::kTrajectories);
  tab().trajectoryTable()->setCurrentIndex(tab().trajectoryTable()->model()->index(1, 0));
  tab().goButton()->click();
  EXPECT_EQ(tab().pages()->currentIndex(), TrainingPanel::kLedger);
  EXPECT_EQ(tab().trajectoryBox()->currentIndex(), 1);
  EXPECT_EQ(tab().ledgerTable()->model()->index(2, LedgerModel::kLoss).data().toString(), QStringLiteral("0.25"));
  EXPECT_FALSE(tab().plot()->legendText().contains(QStringLiteral("in FP32"))) << "it is FP32 itself";
  tab().trajectoryBox()->setCurrentIndex(0);
  tab().pages()->setCurrentIndex(TrainingPanel::kFindings);
  tab().findingTable()->setCurrentIndex(tab().findingTable()->model()->index(1, 0));
  QTest::keyClick(tab().findingTable(), Qt::Key_Return);
  EXPECT_EQ(tab().ledgerTable()->currentIndex().row(), 2);
}

TEST_F(TrainingTab, LeadsFromASkipToItsModule) {
  open(write(true));
  m_window.workbench().selection().clear();
  tab().ledgerTable()->setCurrentIndex(tab().ledgerTable()->model()->index(1, 0));
  QTest::keyClick(tab().ledgerTable(), Qt::Key_Return);
  EXPECT_FALSE(m_window.workbench().selection().modulePath().has_value()) << "this step has no finding";
  tab().ledgerTable()->setCurrentIndex(tab().ledgerTable()->model()->index(0, 0));
  QTest::keyClick(tab().ledgerTable(), Qt::Key_Return);
  EXPECT_EQ(m_window.workbench().selection().modulePath().value_or(QString()), QStringLiteral("block.fc2"));
}

TEST_F(TrainingTab, LeadsToAModuleWithoutARun) {
  open(write(false));
  ASSERT_TRUE(m_window.modules()->isVisible());
  EXPECT_TRUE(m_window.modules()->tree()->isColumnHidden(models::ModuleTreeModel::kFp32)) << "there is no run to keep it in FP32 for";
  tab().ledgerTable()->setCurrentIndex(tab().ledgerTable()->model()->index(1, 0));
  EXPECT_FALSE(tab().ledger()->moduleButton()->isVisible()) << "this step has no finding";
  tab().ledgerTable()->setCurrentIndex(tab().ledgerTable()->model()->index(0, 0));
  const QString finding = QStringLiteral("Step 0, sgd: skipped. aten::linear in block.fc2 (model.py:12): inf in the gradient of its output; first parameter block.fc2.weight");
  EXPECT_EQ(tab().ledger()->lineText(), finding);
  tab().ledger()->moduleButton()->click();
  EXPECT_EQ(m_window.workbench().selection().modulePath().value_or(QString()), QStringLiteral("block.fc2"));
  EXPECT_EQ(m_window.modules()->tree()->currentIndex().data(models::ModuleTreeModel::kPathRole).toString(), QStringLiteral("block.fc2"));
  EXPECT_EQ(m_window.statusText(), finding);
}

TEST_F(TrainingTab, MakesTheStepsSpeakOfTheTraining) {
  open(write(true));
  const QString ofTraining = QStringLiteral("Criteria fail | Training training 1: 2 of 3 steps applied | Findings 1 alarm, 1 time against the order, 1 step skipped | verdict: fail");
  EXPECT_TRUE(m_window.steps()->text().endsWith(ofTraining)) << m_window.steps()->text().toStdString();
  m_window.findings()->setCurrentIndex(FindingsPanel::kRuns);
  EXPECT_TRUE(m_window.steps()->text().contains(QStringLiteral("| Run run 1"))) << m_window.steps()->text().toStdString();
  m_window.findings()->setCurrentIndex(FindingsPanel::kTraining);
  EXPECT_TRUE(m_window.steps()->text().endsWith(ofTraining));
}

TEST_F(TrainingTab, TakesTheHeatmapsRoomAndGivesItBack) {
  open(write(true));
  for (const QSize size : {QSize(1280, 720), QSize(1400, 900)}) {
    m_window.findings()->setCurrentIndex(FindingsPanel::kTraining);
    m_window.resize(size);
    QCoreApplication::processEvents();
    EXPECT_FALSE(m_window.heatmap()->isVisible());
    EXPECT_GT(tab().height(), size.height() / 2);
    EXPECT_EQ(tab().visibleRegion().boundingRect().size(), tab().size()) << "nothing scrolls inside the tab";
    for (const auto chart : {TrainingPlot::kLoss, TrainingPlot::kScale, TrainingPlot::kGradients}) EXPECT_GT(tab().plot()->areaOf(chart).height(), 40) << size.height();
    m_window.findings()->setCurrentIndex(FindingsPanel::kFlips);
    QCoreApplication::processEvents();
    EXPECT_TRUE(m_window.heatmap()->isVisible());
    EXPECT_GT(m_window.heatmap()->height(), size.height() / 5);
    EXPECT_TRUE(m_window.findChild<QDockWidget*>(QStringLiteral("inspector"))->isVisibleTo(&m_window));
  }
}

TEST_F(TrainingTab, ShowsFindingsWhole) {
  session::Training training = sampleTraining();
  training.runs[0].alarms[0].text = "the forward is not finite whatever the scale: " + std::string(40, 'x') + " and on goes the sentence that says what to do about it, to its very end";
  open(write(false, training));
  tab().pages()->setCurrentIndex(TrainingPanel::kFindings);
  QCoreApplication::processEvents();
  QTableView* table = tab().findingTable();
  EXPECT_GE(table->rowHeight(0), 2 * table->fontMetrics().height()) << "in several lines";
  EXPECT_LT(table->rowHeight(2), table->rowHeight(0)) << "a short one in one";
  EXPECT_LE(table->columnViewportPosition(models::TrainingFindingsModel::kWhat) + table->columnWidth(models::TrainingFindingsModel::kWhat), table->viewport()->width() + 1) << "nothing is off the screen";
  EXPECT_FALSE(table->isColumnHidden(models::TrainingFindingsModel::kWhere)) << "the violation says where";
  tab().trajectoryBox()->setCurrentIndex(1);
  EXPECT_TRUE(table->isColumnHidden(models::TrainingFindingsModel::kWhere)) << "nobody says where";
}

TEST_F(TrainingTab, SaysHowManyStepsACancelledTrainingWasAskedFor) {
  session::Training training = sampleTraining();
  training.cancelled = true;
  training.recipe = R"({"model": "m.ts", "inputs": "i.h5", "loss": "output", "optimizers": [{"type": "SGD", "lr": 0.1}], "steps": 100000})";
  open(write(false, training));
  EXPECT_TRUE(tab().summary().startsWith(QStringLiteral("3 of 100,000 steps done, 2 applied"))) << tab().summary().toStdString();
  EXPECT_TRUE(tab().verdict().endsWith(QStringLiteral("Cancelled: it did not do all steps.")));
}

TEST_F(TrainingTab, SaysWhyATrainingCannotBeRead) {
  const QString path = write(false);
  QFile file(path + QStringLiteral(".d/train-0001.json"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Append));
  file.write(" ");
  file.close();
  m_window.openSession(path);
  ASSERT_TRUE(testing::waitFor([this] { return tab().summary().startsWith(QStringLiteral("This training cannot be shown: ")); })) << tab().summary().toStdString();
  EXPECT_TRUE(tab().summary().contains(QStringLiteral("SHA-256")));
  EXPECT_EQ(tab().ledgerTable()->model()->rowCount(), 0);
}

}  // namespace
}  // namespace ulpscope
