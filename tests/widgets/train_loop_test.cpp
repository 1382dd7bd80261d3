// Training through the real window and the real engine, by the recipe of the digits demo with fewer steps: train, cancel, resume from a
// checkpoint, go back by a rule and replay what made it go back.
#include "core/protocol/message.h"
#include "sample_session.h"
#include "widgets/plots/training_plot.h"
#include "widgets/views/checkpoints_page.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/message_bar.h"
#include "widgets/views/train_dialog.h"
#include "widgets/views/training_panel.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTableView>
#include <QTabWidget>
#include <QTest>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ulpscope {
namespace {

using models::CheckpointsModel;
using models::LedgerModel;
using views::FindingsPanel;

constexpr int kTrainingLimitMs = 120000;

class TrainLoop : public ::testing::Test {
 protected:
  TrainLoop() : m_window({m_folder.path(), {}, plots::ThemeChoice::light}) { m_window.show(); }

  // Of the demo's model and inputs; more: what else the recipe has.
  QString writeRecipe(int steps, const nlohmann::json& more = nlohmann::json::object()) {
    const std::string demo = protocol::findData("demo/digits").value();
    nlohmann::json recipe = nlohmann::json::parse(std::ifstream(demo + "/training.json"));
    recipe["model"] = demo + "/untrained.ts";
    recipe["inputs"] = demo + "/inputs.h5";
    recipe["steps"] = steps;
    recipe.erase("criteria");
    recipe.update(more);
    const QString path = m_folder.filePath(QStringLiteral("recipe.json"));
    std::ofstream(path.toStdString()) << recipe;
    return path;
  }
  views::TrainDialog* dialog() { return m_window.findChild<views::TrainDialog*>(); }
  void begin(const QString& recipe, int checkpointEvery = 0) {
    m_window.train(recipe);
    ASSERT_NE(dialog(), nullptr);
    dialog()->everyBox()->setValue(checkpointEvery);
    dialog()->trainButton()->click();
  }
  // Of a training of the session that is shown then.
  void waitForTraining(int number) {
    ASSERT_TRUE(testing::waitFor([&] { return !m_window.problem().isEmpty() || (!m_window.workbench().isRunning() && tab().training() && tab().training()->number == number); }, kTrainingLimitMs)) << tab().summary().toStdString();
    ASSERT_TRUE(m_window.problem().isEmpty()) << m_window.problem().toStdString();
  }
  views::TrainingPanel& tab() { return *m_window.findings()->training(); }
  views::CheckpointsPage& checkpoints() { return *tab().checkpoints(); }
  int lines() { return tab().ledgerTable()->model()->rowCount(); }
  void selectCheckpoint(CheckpointsModel::Action action, int steps) {
    const QAbstractItemModel* model = checkpoints().table()->model();
    for (int row = 0; row < model->rowCount(); ++row)
      if (const QModelIndex index = model->index(row, 0); index.data(CheckpointsModel::kActionRole).toInt() == action && index.data(CheckpointsModel::kStepsRole).toInt() == steps) checkpoints().table()->setCurrentIndex(index);
    ASSERT_TRUE(checkpoints().table()->currentIndex().isValid());
  }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

TEST_F(TrainLoop, FillsTheLedgerAndShowsTheSession) {
  int told = 0;
  bool stayedWithTheRecipe = true;
  QObject::connect(&m_window.workbench().engine(), &jobs::EngineProcess::ledgerTold, &m_window, [&](const protocol::LedgerUpdate&) {
    ++told;
    stayedWithTheRecipe = stayedWithTheRecipe && (tab().trajectoryBox()->currentText().isEmpty() || tab().trajectoryBox()->currentText() == QStringLiteral("recipe"));
  });
  begin(writeRecipe(6));
  waitForTraining(1);
  EXPECT_EQ(told, 12) << "a line a step, of the recipe and of FP32";
  EXPECT_TRUE(stayedWithTheRecipe) << "FP32's loss stands beside the recipe's";
  EXPECT_EQ(lines(), 6);
  EXPECT_EQ(m_window.findings()->currentIndex(), FindingsPanel::kTraining);
  EXPECT_TRUE(m_window.workbench().sessionPath().endsWith(QStringLiteral("recipe-training.ulps")));
  EXPECT_TRUE(tab().plot()->legendText().contains(QStringLiteral("loss in FP32"))) << tab().plot()->legendText().toStdString();
  EXPECT_FALSE(tab().pages()->isTabVisible(views::TrainingPanel::kCheckpoints)) << "none were asked for";
}

TEST_F(TrainLoop, StoresWhatACancelledTrainingDid) {
  begin(writeRecipe(100000));
  ASSERT_TRUE(testing::waitFor([this] { return lines() >= 5; }, kTrainingLimitMs)) << m_window.problem().toStdString();
  m_window.workbench().cancel();
  waitForTraining(1);
  EXPECT_TRUE(tab().training()->cancelled);
  EXPECT_GE(lines(), 5);
  EXPECT_TRUE(tab().summary().contains(QStringLiteral("of 100,000 steps done"))) << tab().summary().toStdString();
  EXPECT_TRUE(tab().verdict().contains(QStringLiteral("Cancelled")));
}

TEST_F(TrainLoop, ResumesFromACheckpointToTheLastBit) {
  begin(writeRecipe(6), 3);
  waitForTraining(1);
  const session::LedgerLine whole = tab().training()->runs.front().ledger.back();
  ASSERT_TRUE(tab().pages()->isTabVisible(views::TrainingPanel::kCheckpoints));
  selectCheckpoint(CheckpointsModel::kResume, 3);
  checkpoints().resumeButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return dialog() != nullptr && dialog()->isVisible() && dialog()->windowTitle().startsWith(QStringLiteral("Resume")); }));
  EXPECT_EQ(dialog()->stepsText(), QStringLiteral("The recipe asks for 6 steps; 3 are done"));
  EXPECT_EQ(dialog()->windowTitle(), QStringLiteral("Resume after 3 steps"));
  dialog()->trainButton()->click();
  waitForTraining(2);
  const session::LedgerLine resumed = tab().training()->runs.front().ledger.back();
  EXPECT_EQ(resumed.step, 5);
  EXPECT_EQ(resumed.loss, whole.loss) << "as if nothing had happened";
  EXPECT_EQ(resumed.gradNorm, whole.gradNorm);
  EXPECT_TRUE(tab().verdict().contains(QStringLiteral("Resumed after 3 steps"))) << tab().verdict().toStdString();
}

TEST_F(TrainLoop, ReplaysTheCaseOfARollbackAndComparesAtItsCheckpoint) {
  begin(writeRecipe(6, {{"rollback", {{"max_loss", 0.5}}}}), 2);  // the loss of ten digits begins near ln 10
  waitForTraining(1);
  ASSERT_TRUE(tab().training()->rollback.has_value());
  EXPECT_TRUE(tab().verdict().contains(QStringLiteral("Rolled back in step 0"))) << tab().verdict().toStdString();
  selectCheckpoint(CheckpointsModel::kReplay, 0);
  checkpoints().replayButton()->click();
  ASSERT_TRUE(testing::waitFor([this] { return m_window.workbench().runB() != nullptr || !m_window.problem().isEmpty(); }, kTrainingLimitMs));
  ASSERT_TRUE(m_window.problem().isEmpty()) << m_window.problem().toStdString();
  EXPECT_TRUE(m_window.workbench().sessionPath().endsWith(QStringLiteral("-replayed.ulps")));
  EXPECT_TRUE(m_window.findChild<views::MessageBar*>()->hint().startsWith(QStringLiteral("Replayed: the steps are the same"))) << m_window.findChild<views::MessageBar*>()->hint().toStdString();
  EXPECT_NE(m_window.findings()->currentIndex(), FindingsPanel::kTraining) << "op by op";
}

}  // namespace
}  // namespace ulpscope
