// A training of somebody's own loop: what it says is shown as any other, what it does not say is called so, and nothing can be trained again.
#include "training_fixture.h"
#include "widgets/plots/training_plot.h"
#include "widgets/views/checkpoints_page.h"
#include "widgets/views/ledger_page.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/step_strip.h"

#include <QComboBox>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>

#include <gmock/gmock.h>

#include <cmath>

namespace ulpscope {
namespace {

using models::LedgerModel;
using testing::TrainingTab;
using views::TrainingPanel;

const QString kWhy = QStringLiteral("recorded from a loop in Python on cuda:0 (NVIDIA H200); no engine can train it again");

// Shares and clipped norms of no step; of step 1 neither loss nor gradient norm.
session::Training recordedTraining() {
  session::Training training;
  session::Trajectory run = testing::recipeRun();
  run.name = "recorded";
  run.firstNonfinite.reset();
  for (session::LedgerLine& line : run.ledger) {
    line.firstNonfinite.reset();
    for (const auto& [key, value] : {std::pair("zero_share", &line.zeroShare), std::pair("clipped_norm", &line.clippedNorm)}) {
      line.unrecorded.insert(key);
      *value = std::nan("");
    }
  }
  run.ledger[1].unrecorded.insert({"loss", "grad_norm"});
  run.ledger[1].gradNorm = std::nan("");
  training.recorded = session::RecordedLoop{"loop.jsonl", true, {{"device", "cuda:0 (NVIDIA H200)"}, {"autocast", "float16"}}};
  training.runs = {run};
  return training;
}

TEST_F(TrainingTab, ShowsARecordedLoopAndWhatItDoesNotSay) {
  open(write(/*withRuns=*/false, recordedTraining()));
  EXPECT_EQ(tab().trainingBox()->currentText(), QStringLiteral("1: recorded, FP16, scaler, 1 of 3 steps skipped"));
  EXPECT_THAT(tab().verdict().toStdString(), ::testing::HasSubstr(QStringLiteral("loop.jsonl was %1.").arg(kWhy).toStdString()));
  EXPECT_THAT(tab().summary().toStdString(), ::testing::HasSubstr("2 of 3 steps applied  ·  skipped: 0  ·  loss 0.75 to 0.5  ·  scale 32,768 at the end"));
  const QAbstractItemModel& ledger = *tab().ledgerTable()->model();
  EXPECT_EQ(ledger.index(1, LedgerModel::kLoss).data().toString(), QStringLiteral("–"));
  EXPECT_EQ(ledger.index(1, LedgerModel::kLoss).data(Qt::ToolTipRole).toString(), QStringLiteral("not recorded"));
  EXPECT_EQ(ledger.index(2, LedgerModel::kLoss).data().toString(), QStringLiteral("0.5"));
  EXPECT_TRUE(tab().ledgerTable()->isColumnHidden(LedgerModel::kZeroShare));
  EXPECT_TRUE(tab().ledgerTable()->isColumnHidden(LedgerModel::kClippedNorm));
}

TEST_F(TrainingTab, DrawsNothingWhereNothingWasRecorded) {
  open(write(/*withRuns=*/false, recordedTraining()));
  const plots::TrainingPlot& plot = *tab().plot();
  EXPECT_FALSE(plot.pixelOf(plots::TrainingPlot::kLoss, 1).has_value());
  EXPECT_TRUE(plot.pixelOf(plots::TrainingPlot::kLoss, 2).has_value());
  EXPECT_FALSE(plot.legendText().contains(QStringLiteral("NaN"))) << plot.legendText().toStdString();
  EXPECT_FALSE(plot.legendText().contains(QStringLiteral("zero share")));
  EXPECT_EQ(plot.tooltipOf(1).toStdString(), "step 1, sgd: not stepped\nloss not recorded, scale 32768\ngradient norm not recorded, its share of zeros not recorded");
}

TEST_F(TrainingTab, GreysWhatNoEngineCanDoWithARecordedLoop) {
  open(write(/*withRuns=*/false, recordedTraining()));
  EXPECT_TRUE(tab().pages()->isTabVisible(TrainingPanel::kCheckpoints));
  for (const QPushButton* button : {tab().checkpoints()->resumeButton(), tab().checkpoints()->compareButton(), tab().checkpoints()->replayButton()}) {
    EXPECT_FALSE(button->isEnabled());
    EXPECT_TRUE(button->toolTip().endsWith(kWhy)) << button->toolTip().toStdString();
  }
  ASSERT_TRUE(tab().standing().has_value());
  EXPECT_EQ(tab().standing()->criteria, QStringLiteral("none, it was recorded"));
}

TEST_F(TrainingTab, KnowsOfARecordedLoopsModelTheTypeAlone) {
  const QString path = m_folder.filePath(QStringLiteral("loop.ulps"));
  session::Session session = storage::newSession("loop");
  session.model.path = "Net";
  session.model.modules.push_back({"", "Net", {}, 0});
  const auto stored = storage::addTraining(path.toStdString(), session, recordedTraining(), storage::WriteMode::create);
  ASSERT_TRUE(stored.ok()) << stored.error().message();
  open(path);
  EXPECT_TRUE(m_window.steps()->text().contains(QStringLiteral("not recorded"))) << m_window.steps()->text().toStdString();
  EXPECT_EQ(m_window.modules()->policyText(), QStringLiteral("A training loop in Python was recorded here: of its model only the type is known."));
}

}  // namespace
}  // namespace ulpscope
