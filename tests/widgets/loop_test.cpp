// The loop, through the real window and the real engine: open demo, see finding, toggle, re-run, clean, old and new side by side.
#include "core/base/number_text.h"
#include "core/protocol/message.h"
#include "core/report/run_document.h"
#include "core/session/demo.h"
#include "sample_session.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/step_strip.h"

#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

namespace ulpscope {
namespace {

using models::ModuleTreeModel;
using views::FindingsPanel;

constexpr int kRunLimitMs = 120000;

TEST(Loop, OpensTheDemoSeesTheOverflowTogglesTheModuleReRunsAndIsClean) {
  const base::Result<session::Demo> demo = session::findDemo(protocol::findData("demo").value(), "overflow");
  ASSERT_TRUE(demo.ok()) << demo.error().message();
  const QString cure = QString::fromStdString(demo->cure.front());
  QTemporaryDir folder;
  views::MainWindow window({folder.path(), {}, plots::ThemeChoice::light});
  window.show();
  views::Workbench& bench = window.workbench();

  window.runDemo(QStringLiteral("overflow"));
  ASSERT_TRUE(testing::waitFor([&] { return bench.runB() != nullptr || !window.problem().isEmpty(); }, kRunLimitMs));
  ASSERT_TRUE(window.problem().isEmpty()) << window.problem().toStdString();
  const session::RunRecord& first = *bench.runB()->run;
  ASSERT_FALSE(first.nonfiniteOrigins.empty());
  EXPECT_EQ(bench.selection().modulePath(), cure) << "the finding is selected";
  EXPECT_EQ(window.findings()->diagnosis().toStdString(), first.nonfiniteOrigins.front().diagnosis);
  EXPECT_TRUE(window.findings()->diagnosis().contains(QStringLiteral("65,504")));

  // The GUI's number is the CLI's: both come from the document of the same run.
  const nlohmann::json document = report::runDocument(*bench.session(), first, bench.sessionPath().toStdString());
  EXPECT_EQ(document.at("first_nonfinite").at("diagnosis"), window.findings()->diagnosis().toStdString());
  EXPECT_EQ(window.findings()->tabText(FindingsPanel::kFlips), QStringLiteral("Flips (%1)").arg(document.at("flips").size()));
  const nlohmann::json& site = document.at("sites").at(static_cast<std::size_t>(first.nonfiniteOrigins.front().site));
  EXPECT_EQ(site.at("module"), cure.toStdString());
  EXPECT_EQ(window.inspector()->factValue(QStringLiteral("relative L2 error")).toStdString(), base::shortNumber(base::numberFromJson(site.at("rel_l2"))));

  QTreeView* tree = window.modules()->tree();
  const QModelIndex box = window.modules()->viewIndexOf(cure, ModuleTreeModel::kFp32);
  tree->scrollTo(box);
  QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualRect(box).center());
  EXPECT_FALSE(window.steps()->staleText().isEmpty());
  QTest::keySequence(&window, QKeySequence(QStringLiteral("F5")));
  ASSERT_TRUE(testing::waitFor([&] { return bench.runA() != nullptr || !window.problem().isEmpty(); }, kRunLimitMs));
  ASSERT_TRUE(window.problem().isEmpty()) << window.problem().toStdString();

  EXPECT_EQ(bench.runA()->run->number, 1);
  EXPECT_EQ(bench.runB()->run->number, 2);
  EXPECT_TRUE(bench.runB()->run->nonfiniteOrigins.empty());
  EXPECT_TRUE(window.steps()->staleText().isEmpty());
  EXPECT_EQ(window.findings()->currentIndex(), FindingsPanel::kRuns);
  EXPECT_TRUE(window.findings()->comparison().contains(QStringLiteral("overflow → none"))) << window.findings()->comparison().toStdString();
  EXPECT_EQ(window.findings()->runTable()->model()->rowCount(), 2);
  QTest::keySequence(&window, QKeySequence(QStringLiteral("Ctrl+3")));
  int cured = 0;
  for (const render::PackedCell cell : window.heatmap()->content()->data().cells()) cured += cell == render::kPackedCured ? 1 : 0;
  EXPECT_GT(cured, 0);
}

}  // namespace
}  // namespace ulpscope
