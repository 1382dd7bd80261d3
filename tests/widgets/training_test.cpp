// The Training tab. The sample training by hand: three steps of one optimizer; step 0 overflows in block.fc2 and is skipped, which halves the
// scale; step 1 has a loss of NaN. FP32 beside it does all three.
#include "core/protocol/message.h"
#include "core/storage/training_store.h"
#include "fake_engine.h"
#include "sample_session.h"
#include "widgets/models/drop_plan.h"
#include "widgets/models/training_summary.h"
#include "widgets/models/training_models.h"
#include "widgets/plots/training_plot.h"
#include "widgets/plots/training_ticks.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/ledger_page.h"
#include "widgets/views/main_window.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/train_dialog.h"
#include "widgets/views/training_panel.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

using models::LedgerModel;
using plots::TrainingPlot;
using views::FindingsPanel;
using views::TrainingPanel;

constexpr double kInf = std::numeric_limits<double>::infinity();

session::LedgerLine line(std::int64_t step, double loss, double scaleBefore, double scaleAfter) {
  session::LedgerLine l;
  l.step = step;
  l.optimizer = "sgd";
  l.loss = loss;
  l.scaleBefore = scaleBefore;
  l.scaleAfter = scaleAfter;
  l.gradNorm = 2.5;
  l.clippedNorm = 1;
  l.zeroShare = 0.125;
  l.lr = 0.1;
  l.appliedUpdates = step;
  return l;
}

session::Trajectory recipeRun() {
  session::Trajectory run;
  run.name = "recipe";
  run.autocast = run.scaling = true;
  run.fp32 = {"head"};
  run.ledger = {line(0, 0.75, 65536, 32768), line(1, std::nan(""), 32768, 32768), line(2, 0.5, 32768, 32768)};
  session::LedgerLine& skipped = run.ledger[0];
  skipped.foundInf = skipped.skipped = true;
  skipped.gradNorm = skipped.clippedNorm = kInf;
  session::FirstNonfinite first;
  first.stage = "gradient";
  first.op = "aten::linear";
  first.modulePath = "block.fc2";
  first.source = "model.py:12";
  first.parameter = "block.fc2.weight";
  first.kind = "inf";
  skipped.firstNonfinite = run.firstNonfinite = first;
  run.alarms = {{"forward_nonfinite", 1, "the loss is not finite"}};
  run.violations = {{2, "clip", "clip_before_unscale", "sgd", "unscale first"}};
  run.finalScale = 32768;
  run.steps = 3;
  run.appliedUpdates = 2;
  run.accuracy = 0.875;
  return run;
}

session::Trajectory fp32Run() {
  session::Trajectory run;
  run.name = "fp32";
  run.ledger = {line(0, 0.75, 1, 1), line(1, 0.5, 1, 1), line(2, 0.25, 1, 1)};
  run.steps = run.appliedUpdates = 3;
  return run;
}

session::Training sampleTraining() {
  session::Training training;
  training.recipe = "{}";
  training.runs = {recipeRun(), fp32Run()};
  session::Verdict verdict;
  verdict.status = session::JudgedAs::fail;
  verdict.criteria = {{"alarms", 1, 0, kInf, "", session::JudgedAs::fail, ""}};
  training.verdict = verdict;
  return training;
}

QStringList cells(const QAbstractItemModel& model, int row) {
  QStringList texts;
  for (int column = 0; column < model.columnCount(); ++column) texts << model.index(row, column).data().toString();
  return texts;
}

TEST(LedgerTable, AccountsForEveryStep) {
  LedgerModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setLedger(recipeRun().ledger);
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(cells(model, 0).join(QStringLiteral(" | ")).toStdString(),
            "0 | sgd | ▼ skipped | inf in the gradient, block.fc2 | 0.75 | 65,536 | 32,768 | +inf | 12.5 % | +inf | yes | 0.1 | 0");
  EXPECT_EQ(cells(model, 1).join(QStringLiteral(" | ")).toStdString(), "1 | sgd | applied | – | NaN | 32,768 | 32,768 | 2.5 | 12.5 % | 1 | no | 0.1 | 1");
  EXPECT_EQ(model.lineText(0).toStdString(), "Step 0, sgd: skipped. aten::linear in block.fc2 (model.py:12): inf in the gradient of its output; first parameter block.fc2.weight");
  EXPECT_EQ(model.lineText(1), QStringLiteral("Step 1, sgd: applied"));
  EXPECT_TRUE(model.isRedundant(LedgerModel::kOptimizer)) << "there is one";
  EXPECT_TRUE(model.isRedundant(LedgerModel::kFoundInf)) << "as skipped";
  EXPECT_FALSE(model.isRedundant(LedgerModel::kClippedNorm)) << "2.5 was clipped to 1";
  EXPECT_EQ(model.index(0, 0).data(LedgerModel::kModuleRole).toString(), QStringLiteral("block.fc2"));
  EXPECT_FALSE(model.index(1, 0).data(LedgerModel::kModuleRole).isValid());
  EXPECT_EQ(model.rowOfStep(2), 2);
  EXPECT_EQ(model.rowOfStep(3), -1);
  model.setLedger({});
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(TrajectoryTable, PutsAutocastAndScalingSideBySide) {
  models::TrajectoriesModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setTraining(std::make_shared<const session::Training>(sampleTraining()));
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_EQ(cells(model, 0).mid(0, 10).join(QStringLiteral(" | ")).toStdString(), "recipe | on | on | head | 1 | 2 | 0.5 | 32,768 | 87.5 % | 1");
  EXPECT_EQ(cells(model, 1).join(QStringLiteral(" | ")).toStdString(), "fp32 | off | off | none | 0 | 3 | 0.25 | 1 | – | 0 | – | no");
}

TEST(TrainingFindings, ListAlarmsOrderAndCriteria) {
  models::TrainingFindingsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const auto training = std::make_shared<const session::Training>(sampleTraining());
  model.setRun(training, 0);
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(cells(model, 0).join(QStringLiteral(" | ")).toStdString(), "1 | alarm | forward_nonfinite |  | the loss is not finite");
  EXPECT_EQ(cells(model, 1).join(QStringLiteral(" | ")).toStdString(), "2 | order | clip_before_unscale | clip of sgd | unscale first");
  EXPECT_TRUE(model.hasPlaces());
  EXPECT_EQ(model.index(1, 0).data(Qt::AccessibleDescriptionRole).toString(), QStringLiteral("step 2, order clip_before_unscale: unscale first (clip of sgd)")) << "whole in every column";
  EXPECT_EQ(model.index(2, 4).data(Qt::ToolTipRole).toString(), QStringLiteral("<p>criterion alarms: fail: measured 1, limit 0</p>"));
  EXPECT_EQ(cells(model, 2).join(QStringLiteral(" | ")).toStdString(), "– | criterion | alarms |  | fail: measured 1, limit 0");
  model.setRun(training, 1);
  EXPECT_EQ(model.rowCount(), 1) << "FP32 has no alarm; the verdict is the training's";
  model.setRun(nullptr, 0);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(ScaleText, GroupsWhatCanBeRead) {
  EXPECT_EQ(models::scaleText(65536), QStringLiteral("65,536"));
  EXPECT_EQ(models::scaleText(0.5), QStringLiteral("0.5"));
  EXPECT_EQ(models::scaleText(std::ldexp(1.0, 32)), QStringLiteral("4,294,967,296")) << "as 536,870,912 below it";
  EXPECT_EQ(models::scaleText(std::ldexp(1.0, 127)), QStringLiteral("1.70e+38"));
  EXPECT_EQ(models::scaleText(kInf), QStringLiteral("+inf"));
}

TEST(AlarmsText, PutsTheWorstFirst) {
  session::Trajectory run;
  EXPECT_EQ(models::alarmsText(run), QString());
  run.alarms = {{"skips_in_a_row", 4, "sgd skipped 5 steps in a row"}, {"gradients_flushed_to_zero", 0, "89 % of the gradients are zero"}, {"unknown", 2, "something"}};
  EXPECT_EQ(models::alarmsText(run), QStringLiteral("3 alarms, the worst: 89 % of the gradients are zero (step 0)"));
  run.alarms.erase(run.alarms.begin() + 1);
  EXPECT_EQ(models::alarmsText(run), QStringLiteral("2 alarms, the worst: something (step 2)"));
}

QStringList tickTexts(const std::vector<double>& values, render::AxisScale scale, int most, int base) {
  QStringList texts;
  for (const plots::AxisTick& tick : plots::axisTicks(render::valueAxis(values, scale), most, base)) texts << tick.text;
  return texts;
}

TEST(TrainingTicks, AreTwoAtLeastAndDiffer) {
  using render::AxisScale;
  EXPECT_GE(tickTexts({2.0, 3.0}, AxisScale::logarithmic, 2, 10).size(), 2) << "no power of ten lies between them";
  EXPECT_GE(tickTexts({std::ldexp(1.0, 18), std::ldexp(1.0, 32)}, AxisScale::logarithmic, 2, 2).size(), 2) << "14 octaves in a low chart";
  EXPECT_EQ(tickTexts({0.5, 50.0}, AxisScale::logarithmic, 4, 10).join(u' '), QStringLiteral("10⁰ 10¹ 10²"));
  const QStringList flat = tickTexts({2.2931, 2.2939}, AxisScale::linear, 5, 10);
  EXPECT_GE(flat.size(), 2);
  EXPECT_EQ(QStringList(flat).removeDuplicates(), 0) << flat.join(u' ').toStdString();
  EXPECT_FALSE(tickTexts({}, AxisScale::linear, 3, 10).isEmpty()) << "an axis without values is one from 0 to 1";
}

class TrainingTab : public ::testing::Test {
 protected:
  ~TrainingTab() override { qunsetenv("ULPSCOPE_ENGINE"); }
  TrainingTab() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }

  QString write(bool withRuns, const session::Training& training = sampleTraining()) {
    const QString path = withRuns ? testing::writeSample(m_folder, 1) : m_folder.filePath(QStringLiteral("training.ulps"));
    const auto session = withRuns ? storage::openSession(path.toStdString()) : base::Result<session::Session>(testing::sampleSession());
    const auto stored = storage::addTraining(path.toStdString(), session.value(), training, withRuns ? storage::WriteMode::append : storage::WriteMode::create);
    EXPECT_TRUE(stored.ok()) << stored.error().message();
    return path;
  }
  void open(const QString& path) {
    m_window.openSession(path);
    ASSERT_TRUE(testing::waitFor([&] { return tab().training() != nullptr; })) << m_window.problem().toStdString() << tab().summary().toStdString();
    m_window.findings()->setCurrentIndex(FindingsPanel::kTraining);
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
    QCoreApplication::processEvents();
  }
  TrainingPanel& tab() { return *m_window.findings()->training(); }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

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
  EXPECT_LT(table->rowHeight(2), 2 * table->fontMetrics().height());
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

TEST(DropPlan, TakesARecipe) {
  const auto plan = models::dropPlan({QStringLiteral("/d/recipe.json")});
  EXPECT_EQ(plan.recipe, QStringLiteral("/d/recipe.json"));
  EXPECT_EQ(plan.text(), QStringLiteral("recipe.json: training recipe"));
  const auto both = models::dropPlan({QStringLiteral("/d/demo.json"), QStringLiteral("/d/model.ts")});
  EXPECT_TRUE(both.recipe.isEmpty()) << "a folder of a model may have any JSON";
  EXPECT_EQ(both.unused, QStringList{QStringLiteral("/d/demo.json")});
}

class LiveTraining : public TrainingTab {
 protected:
  // Tells two lines, waits for the file `.go` and ends in `answer`.
  void install(const QByteArray& answer) {
    QByteArray body = testing::kGreets;
    for (const auto& l : {recipeRun().ledger[0], recipeRun().ledger[1]}) body += "echo '" + QByteArray::fromStdString(protocol::encodeLedger(2, {"recipe", l})).trimmed() + "'\n";
    testing::installFakeEngine(m_folder, (body + "while [ ! -e " + goPath().toUtf8() + " ]; do read -t 0.05 x; done\necho '" + answer + "'; read more").constData());
  }
  QString goPath() { return m_folder.filePath(QStringLiteral("go")); }
  void go() {
    QFile file(goPath());
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  }
  QString writeRecipe() {
    QFile file(m_folder.filePath(QStringLiteral("recipe.json")));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("{}");
    return file.fileName();
  }
  views::TrainDialog* dialog() { return m_window.findChild<views::TrainDialog*>(); }
  int lines() { return tab().ledgerTable()->model()->rowCount(); }
};

TEST_F(LiveTraining, FillsPlotsAndLedgerAndShowsItsSessionAtTheEnd) {
  const QByteArray path = m_folder.filePath(QStringLiteral("training.ulps")).toUtf8();
  install("{\"id\": 2, \"result\": {\"session\": \"" + path + "\", \"training\": 1}}");
  m_window.useFiles({writeRecipe()});
  ASSERT_NE(dialog(), nullptr);
  EXPECT_TRUE(dialog()->sessionField()->text().endsWith(QStringLiteral("recipe-training.ulps")));
  dialog()->sessionField()->setText(QString::fromUtf8(path));
  dialog()->trainButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return lines() == 2; })) << m_window.problem().toStdString();
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kTraining);
  EXPECT_TRUE(tab().isVisible()) << "though there is no session yet";
  EXPECT_EQ(tab().plot()->legendText(), QStringLiteral("this trajectory, zero share, skipped: 1, +inf: grad. norm 1, NaN: loss 1"));
  EXPECT_EQ(tab().trajectoryBox()->currentText(), QStringLiteral("recipe")) << "what is on in it is not told";
  EXPECT_EQ(tab().trajectoryTable()->model()->rowCount(), 0);
  write(false);
  go();
  ASSERT_TRUE(testing::waitFor([this] { return lines() == 3; })) << tab().summary().toStdString();
  EXPECT_EQ(m_window.workbench().sessionPath(), QString::fromUtf8(path));
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kTraining);
  EXPECT_EQ(tab().trajectoryBox()->count(), 2);
}

TEST_F(LiveTraining, GoesIntoTheOpenSessionAndIsShownThere) {
  const QString path = testing::writeSample(m_folder, 1);
  m_window.openSession(path);
  ASSERT_TRUE(testing::waitFor([this] { return m_window.workbench().runB() != nullptr; }));
  install("{\"id\": 2, \"result\": {\"session\": \"" + path.toUtf8() + "\", \"training\": 1}}");
  m_window.train(writeRecipe());
  EXPECT_TRUE(dialog()->request().append);
  EXPECT_EQ(QString::fromStdString(dialog()->request().sessionPath), path);
  dialog()->trainButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return lines() == 2; }));
  const auto session = storage::openSession(path.toStdString());
  ASSERT_TRUE(storage::addTraining(path.toStdString(), session.value(), sampleTraining(), storage::WriteMode::append).ok());
  go();
  ASSERT_TRUE(testing::waitFor([this] { return lines() == 3; })) << tab().summary().toStdString();
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kTraining);
  EXPECT_NE(m_window.workbench().runB(), nullptr) << "its runs are still shown";
}

TEST_F(LiveTraining, CancelGoesBackToWhereItWas) {
  install("{\"id\": 2, \"error\": {\"code\": \"cancelled\", \"what\": \"cancelled\", \"which\": \"run\", \"do\": \"\"}}");
  m_window.train(writeRecipe());
  dialog()->trainButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return lines() == 2; }));
  m_window.activateWindow();  // the dialog was
  ASSERT_TRUE(QTest::qWaitForWindowActive(&m_window));
  QTest::keySequence(&m_window, QKeySequence(QStringLiteral("Shift+F5")));
  EXPECT_TRUE(m_window.workbench().isCancelling());
  go();
  ASSERT_TRUE(testing::waitFor([this] { return !m_window.workbench().isRunning(); }));
  EXPECT_NE(m_window.page(), m_window.heatmap()) << "there is no session";
  EXPECT_FALSE(m_window.findings()->isVisible());
  EXPECT_EQ(lines(), 0);
}

}  // namespace
}  // namespace ulpscope
