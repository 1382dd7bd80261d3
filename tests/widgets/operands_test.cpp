// What the inspector says of an op site's operands, in the user's words. What is expected stands in sample_session.cpp.
#include "captured_session.h"
#include "sample_session.h"
#include "widgets/models/operands_model.h"
#include "widgets/models/selection.h"
#include "widgets/plots/theme.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/main_window.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <gmock/gmock.h>

namespace ulpscope {
namespace {

using models::OperandsModel;
using ::testing::ElementsAre;

class OperandsOfASite : public ::testing::Test {
 protected:
  OperandsOfASite() : m_window({m_folder.filePath(QStringLiteral("demos")), {}, plots::ThemeChoice::light}) { m_window.show(); }

  void openSession(const QString& path) {
    m_window.openSession(path);
    ASSERT_TRUE(testing::waitFor([this] { return m_window.workbench().runB() != nullptr; })) << m_window.problem().toStdString();
    m_window.inspector()->showTab(views::InspectorPanel::kFacts);
  }
  void openSample() { openSession(testing::writeSample(m_folder, 1)); }
  void selectSite(const char* module) { m_window.selectSite(QLatin1String(module), 2); }
  views::OperandsView* view() { return m_window.inspector()->operands(); }
  std::vector<std::string> row(int row) {
    std::vector<std::string> cells;
    for (int column = 0; column < view()->table()->model()->columnCount(); ++column)
      cells.push_back(view()->table()->model()->index(row, column).data().toString().toStdString());
    return cells;
  }
  QPoint middleOf(int row) { return view()->table()->visualRect(view()->table()->model()->index(row, OperandsModel::kOperand)).center(); }

  QTemporaryDir m_folder;
  views::MainWindow m_window;
};

TEST_F(OperandsOfASite, HaveNameOriginAndBothDtypes) {
  openSample();
  selectSite("block.fc2");
  ASSERT_EQ(view()->table()->model()->rowCount(), 2);
  EXPECT_THAT(row(0), ElementsAre("input", "block.fc1: aten::linear", "float32", "float16", "100", "100"));
  EXPECT_THAT(row(1), ElementsAre("weight", "parameter block.fc2.weight", "float32", "float32 → float16", "–", "–"));
  selectSite("block.fc1");
  EXPECT_THAT(row(0), ElementsAre("input", "input x", "float32", "float32 → float16", "–", "–"));
  selectSite("block.norm");
  EXPECT_THAT(row(0), ElementsAre("input", "block.fc2: aten::linear", "float32", "float16 → float32", "81,920.5", "100")) << "the range of what made it, in each run";
  EXPECT_THAT(row(1), ElementsAre("weight", "unknown", "float32", "–", "–", "–"));
  EXPECT_EQ(view()->note(), QString());
}

TEST_F(OperandsOfASite, LeadToTheOpThatMadeThemByEnter) {
  openSample();
  selectSite("block.norm");
  const models::Selection& selection = m_window.workbench().selection();
  view()->table()->setFocus();
  QTest::keyClick(view()->table(), Qt::Key_Return);
  EXPECT_EQ(selection.modulePath(), QStringLiteral("block.fc2"));
  EXPECT_EQ(selection.site(), 1);
  EXPECT_EQ(selection.sample(), 2) << "the sample stays";
  EXPECT_EQ(m_window.inspector()->title(), QStringLiteral("block.fc2"));
  QTest::keyClick(view()->table(), Qt::Key_Return);
  EXPECT_EQ(selection.modulePath(), QStringLiteral("block.fc1")) << "and on, without the mouse";
  QTest::keyClick(view()->table(), Qt::Key_Return);
  EXPECT_EQ(selection.modulePath(), QStringLiteral("block.fc1")) << "no op made the model's input";
}

TEST_F(OperandsOfASite, LeadToTheOpThatMadeThemByADoubleClick) {
  openSample();
  selectSite("block.fc2");
  QSignalSpy changes(&m_window.workbench().selection(), &models::Selection::changed);
  QTest::mouseDClick(view()->table()->viewport(), Qt::LeftButton, {}, middleOf(1));
  EXPECT_EQ(changes.size(), 0) << "a parameter is no op";
  // As Qt sends it: pressing first.
  QTest::mouseClick(view()->table()->viewport(), Qt::LeftButton, {}, middleOf(0));
  QTest::mouseDClick(view()->table()->viewport(), Qt::LeftButton, {}, middleOf(0));
  EXPECT_EQ(m_window.workbench().selection().modulePath(), QStringLiteral("block.fc1"));
  EXPECT_EQ(m_window.workbench().selection().site(), 0);
}

TEST_F(OperandsOfASite, KeepTheRangesThatAFindingRecorded) {
  openSample();
  selectSite("block.fc2");
  EXPECT_TRUE(models::operandsText(*m_window.workbench().shownRun(), 1).contains(QStringLiteral("-900 to 812"))) << "beside the table";
}

TEST_F(OperandsOfASite, OfALongListSayHowManyThereAre) {
  openSample();
  selectSite("head");
  EXPECT_EQ(view()->table()->model()->rowCount(), 16);
  EXPECT_EQ(view()->note(), QStringLiteral("The first 16 of 1,000 operands."));
}

TEST_F(OperandsOfASite, OfAnOlderRunAreNotRecordedAndItSaysSo) {
  openSession(testing::writeCaptured(m_folder));
  selectSite("fc");
  EXPECT_FALSE(view()->table()->isVisible());
  EXPECT_EQ(view()->note(), QStringLiteral("This run did not record operands: an older Ulpscope made it."));
}

TEST(OperandsModel, IsAWellFormedModelAndFollowsTheSite) {
  OperandsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const models::RunPointer run = testing::loadedSample(testing::Sick::yes);
  for (std::int64_t site = 0; site < 4; ++site) model.setSite(run, site);
  EXPECT_EQ(model.rowCount(), 16);
  EXPECT_EQ(model.index(0, OperandsModel::kFrom).data(OperandsModel::kKeyRole).toLongLong(), 2);
  model.setSite(run, -1);
  EXPECT_EQ(model.rowCount(), 0);
  model.setSite(nullptr, 0);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(OperandsNote, TellsAnOlderRunFromASiteThatTheFirstBatchDidNotReach) {
  auto session = std::make_shared<session::Session>(testing::sampleSession());
  session->runs = {testing::sampleRun(testing::Sick::yes)};
  session->runs[0].sites[1].operands.reset();
  session->runs[0].sites[2].operands = session::SiteOperands{};
  const models::RunPointer run = models::makeLoadedRun(session, session->runs.front(), nullptr, {});
  EXPECT_EQ(models::operandsNote(*run, 0), QString());
  EXPECT_EQ(models::operandsNote(*run, 1), QStringLiteral("Operands are recorded in the first batch, which did not reach this op site."));
  EXPECT_EQ(models::operandsNote(*run, 2), QStringLiteral("This op takes no tensors."));
}

}  // namespace
}  // namespace ulpscope
