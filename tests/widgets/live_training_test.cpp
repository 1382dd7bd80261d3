// The Training tab while a training goes on, by a stand-in for the engine.
#include "core/protocol/message.h"
#include "fake_engine.h"
#include "training_fixture.h"
#include "widgets/plots/training_plot.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/train_dialog.h"

#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

#include <nlohmann/json.hpp>

namespace ulpscope {
namespace {

using testing::recipeRun;
using testing::sampleTraining;
using testing::TrainingTab;
using views::FindingsPanel;

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
