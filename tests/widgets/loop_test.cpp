// The loop, through the real window and the real engine: open demo, see finding, toggle, re-run, clean, old and new side by side.
#include "core/base/number_text.h"
#include "core/protocol/message.h"
#include "core/report/run_document.h"
#include "core/session/demo.h"
#include "sample_session.h"
#include "core/protocol/message.h"
#include "widgets/models/criteria_model.h"
#include "widgets/views/criteria_panel.h"
#include "widgets/views/criteria_sheet.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/run_bar.h"
#include "widgets/views/run_sheet.h"
#include "widgets/views/step_strip.h"

#include <QTableView>
#include <QComboBox>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

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

  ASSERT_TRUE(QTest::qWaitForWindowExposed(&window));
  QCoreApplication::processEvents();  // docks and hint have come just now: they are laid out before anybody clicks
  ASSERT_TRUE(window.modules()->isVisible()) << "docks come with the first results";
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

QString demoFile(const char* name) { return QString::fromStdString(protocol::findData("demo/overflow").value()) + u'/' + QLatin1String(name); }

// Someone opens a model and inputs, presses Run, sees the heatmap fill, stands at the first NaN, keeps that module in FP32, runs again
// and sees that it helped.
TEST(Loop, OpensAModelRunsItFindsTheOverflowAndCuresIt) {
  QTemporaryDir folder;
  views::MainWindow window({folder.path(), {}, plots::ThemeChoice::light});
  window.show();
  views::Workbench& bench = window.workbench();
  window.useFiles({demoFile("model.ts"), demoFile("inputs.h5")});
  views::RunSheet* sheet = window.runSheet();
  ASSERT_EQ(window.page(), sheet);
  ASSERT_TRUE(testing::waitFor([&] { return sheet->facts().contains(QStringLiteral("64 samples")); }, kRunLimitMs)) << sheet->facts().toStdString();
  EXPECT_TRUE(sheet->facts().contains(QStringLiteral("tokens: int64 [64, 16], samples on axis 0"))) << sheet->facts().toStdString();
  EXPECT_TRUE(sheet->facts().contains(QStringLiteral("4 class names")));
  sheet->setPath(models::RunField::session, folder.filePath(QStringLiteral("mine.ulps")));
  qobject_cast<QComboBox*>(sheet->editor(models::RunField::decision)->findChild<QComboBox*>())->setCurrentText(QStringLiteral("argmax"));
  qobject_cast<QSpinBox*>(sheet->editor(models::RunField::batchSize))->setValue(4);
  ASSERT_TRUE(sheet->canGoOn());
  std::int64_t partial = 0;
  QObject::connect(&bench, &views::Workbench::liveChanged, &bench, [&] {
    const std::int64_t done = bench.live().samplesDone();
    if (done > 0 && done < 64) partial = done;
  });
  sheet->goOnButton()->click();
  EXPECT_EQ(window.page(), window.heatmap());
  ASSERT_TRUE(testing::waitFor([&] { return bench.runB() != nullptr || !window.problem().isEmpty(); }, kRunLimitMs));
  ASSERT_TRUE(window.problem().isEmpty()) << window.problem().toStdString();
  EXPECT_GT(partial, 0) << "the heatmap filled while it ran";
  EXPECT_EQ(bench.live().samplesDone(), 64);
  EXPECT_EQ(bench.selection().modulePath(), QStringLiteral("layers.3.feed_forward.wo"));
  EXPECT_TRUE(window.modules()->isVisible() && window.inspector()->isVisible() && window.findings()->isVisible());
  // What was streamed is what was stored.
  const auto live = bench.live().content();
  for (std::int64_t row = 0; row < live->rowCount(); ++row)
    for (std::int64_t sample = 0; sample < 64; ++sample)
      EXPECT_EQ(render::packed(live->cells->at(row, sample)), render::packed(window.heatmap()->content()->cells->at(row, sample))) << row << " " << sample;

  QTest::keySequence(&window, QKeySequence(QStringLiteral("Ctrl+K")));
  QTest::keySequence(&window, QKeySequence(QStringLiteral("F5")));
  ASSERT_TRUE(testing::waitFor([&] { return bench.runA() != nullptr || !window.problem().isEmpty(); }, kRunLimitMs));
  ASSERT_TRUE(window.problem().isEmpty()) << window.problem().toStdString();
  EXPECT_TRUE(bench.runB()->run->nonfiniteOrigins.empty());
}

TEST(Loop, ValidatesAReleaseAndSaysItsVerdict) {
  QTemporaryDir folder;
  views::MainWindow window({folder.path(), {}, plots::ThemeChoice::light});
  window.show();
  views::Workbench& bench = window.workbench();
  window.newRun(true);
  views::RunSheet* sheet = window.runSheet();
  sheet->setPath(models::RunField::model, demoFile("model.ts"));
  sheet->setPath(models::RunField::inputs, demoFile("inputs.h5"));
  sheet->setPath(models::RunField::session, folder.filePath(QStringLiteral("release.ulps")));
  sheet->editor(models::RunField::decision)->findChild<QComboBox*>()->setCurrentText(QStringLiteral("argmax"));
  ASSERT_TRUE(testing::waitFor([&] { return sheet->canGoOn() && sheet->facts().contains(QStringLiteral("64 samples")); }, kRunLimitMs));
  sheet->goOnButton()->click();
  views::CriteriaSheet* criteria = window.criteriaSheet();
  ASSERT_EQ(window.page(), criteria);
  auto* model = qobject_cast<models::CriteriaModel*>(criteria->table()->model());
  model->setData(model->index(model->rowOf(QStringLiteral("/nonfinite/max_samples")), models::CriteriaModel::kLimit), QStringLiteral("0"), Qt::EditRole);
  model->setData(model->index(model->rowOf(QStringLiteral("/decisions/max_flips")), models::CriteriaModel::kLimit), QStringLiteral("5"), Qt::EditRole);
  criteria->setConfirm([](const QString&) { return true; });
  criteria->lockButton()->click();
  ASSERT_TRUE(testing::waitFor([&] { return bench.runB() != nullptr || !window.problem().isEmpty(); }, kRunLimitMs));
  ASSERT_TRUE(window.problem().isEmpty()) << window.problem().toStdString();
  ASSERT_TRUE(bench.runB()->run->verdict.has_value());
  EXPECT_EQ(bench.runB()->run->verdict->status, session::JudgedAs::fail) << "three messages are routed nowhere";
  EXPECT_TRUE(window.findings()->criteria()->summary().startsWith(QStringLiteral("verdict: fail (criteria revision 1)"))) << window.findings()->criteria()->summary().toStdString();
  EXPECT_EQ(window.findings()->criteria()->table()->model()->rowCount(), 2);
}

// Another program writes to the session: the run says for whom it waits, and goes on when that is over.
TEST(Loop, SaysForWhomARunWaits) {
  QTemporaryDir folder;
  views::MainWindow window({folder.path(), {}, plots::ThemeChoice::light});
  window.show();
  views::Workbench& bench = window.workbench();
  window.runDemo(QStringLiteral("overflow"));
  ASSERT_TRUE(testing::waitFor([&] { return bench.runB() != nullptr || !window.problem().isEmpty(); }, kRunLimitMs));
  const std::string lock = bench.sessionPath().toStdString() + ".d/lock";
  const int held = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  window.toggleFp32(QStringLiteral("layers.3.feed_forward.wo"));
  window.rerun();
  EXPECT_TRUE(testing::waitFor([&] { return window.runBar()->text().startsWith(QStringLiteral("waiting for ")); }, kRunLimitMs)) << window.runBar()->text().toStdString();
  ::close(held);
  ASSERT_TRUE(testing::waitFor([&] { return bench.runA() != nullptr || !window.problem().isEmpty(); }, kRunLimitMs));
  EXPECT_TRUE(window.problem().isEmpty()) << window.problem().toStdString();
}

}  // namespace
}  // namespace ulpscope
