#include "sample_session.h"
#include "widgets/models/badge.h"
#include "widgets/models/module_dtypes.h"
#include "widgets/views/modules_panel.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope {
namespace {

using models::ModuleTreeModel;
using models::RegionKind;
using testing::Sick;

class Modules : public ::testing::Test {
 protected:
  Modules() : m_bench(QString()), m_panel(m_bench) {
    m_panel.resize(360, 600);
    m_panel.show();
    m_bench.openSession(testing::writeSample(m_folder, 2));  // run B is clean, with block.fc2 in FP32
    EXPECT_TRUE(testing::waitFor([this] { return m_bench.runB() != nullptr; }));
  }

  QVariant dataOf(const char* path, int column, int role = Qt::DisplayRole) { return m_panel.viewIndexOf(QLatin1String(path), column).data(role); }
  void makeCurrent(const char* path, int column = ModuleTreeModel::kModule) { m_panel.tree()->setCurrentIndex(m_panel.viewIndexOf(QLatin1String(path), column)); }
  void click(const char* path, Qt::KeyboardModifiers modifiers) {
    const QModelIndex index = m_panel.viewIndexOf(QLatin1String(path), ModuleTreeModel::kFp32);
    m_panel.tree()->scrollTo(index);
    QTest::mouseClick(m_panel.tree()->viewport(), Qt::LeftButton, modifiers, m_panel.tree()->visualRect(index).center());
  }
  void filter(const char* words) {
    m_panel.filterField()->clear();
    QTest::keyClicks(m_panel.filterField(), QLatin1String(words));
  }
  // Paths shown, in the tree's order.
  QStringList shown() {
    QStringList paths;
    for (QModelIndex index = m_panel.tree()->model()->index(0, 0); index.isValid(); index = m_panel.tree()->indexBelow(index)) paths << index.data(ModuleTreeModel::kPathRole).toString();
    return paths;
  }
  QStringList menuOf(const char* path) {
    QMenu menu;
    m_panel.fillMenu(menu, QLatin1String(path));
    QStringList words;
    for (const QAction* action : menu.actions())
      if (!action->isSeparator()) words << action->text();
    return words;
  }
  std::string selected() { return m_bench.selection().modulePath().value_or(QStringLiteral("nothing")).toStdString(); }

  QTemporaryDir m_folder;
  views::Workbench m_bench;
  views::ModulesPanel m_panel;
};

TEST_F(Modules, TogglesTheModuleBySpaceInWhateverColumn) {
  makeCurrent("head");
  QTest::keyClick(m_panel.tree(), Qt::Key_Space);
  EXPECT_TRUE(m_bench.regions().names(QStringLiteral("head"), RegionKind::inputsToFp32));
  makeCurrent("head", ModuleTreeModel::kFp32);
  QTest::keyClick(m_panel.tree(), Qt::Key_Space);
  EXPECT_FALSE(m_bench.regions().names(QStringLiteral("head"), RegionKind::inputsToFp32));
  m_bench.undoStack().undo();
  EXPECT_TRUE(m_bench.regions().names(QStringLiteral("head"), RegionKind::inputsToFp32));
}

TEST_F(Modules, TogglesTheParentWithShift) {
  makeCurrent("block.fc1");
  QTest::keyClick(m_panel.tree(), Qt::Key_Space, Qt::ShiftModifier);
  EXPECT_TRUE(m_bench.regions().names(QStringLiteral("block"), RegionKind::inputsToFp32));
  click("block.norm", Qt::ShiftModifier);
  EXPECT_FALSE(m_bench.regions().names(QStringLiteral("block"), RegionKind::inputsToFp32));
  click("block.norm", Qt::NoModifier);
  EXPECT_TRUE(m_bench.regions().names(QStringLiteral("block.norm"), RegionKind::inputsToFp32));
}

TEST_F(Modules, OffersBothKindsAndTheParentInItsMenu) {
  EXPECT_EQ(menuOf("head"), (QStringList{QStringLiteral("Keep in FP32"), QStringLiteral("Switch autocast off"), QStringLiteral("Keep (root) in FP32")}));
  QMenu menu;
  m_panel.fillMenu(menu, QStringLiteral("head"));
  menu.actions().at(1)->trigger();
  EXPECT_TRUE(m_bench.regions().names(QStringLiteral("head"), RegionKind::inputsAsTheyAre));
  EXPECT_EQ(dataOf("head", ModuleTreeModel::kFp32, Qt::CheckStateRole).toInt(), Qt::Checked);
  EXPECT_EQ(dataOf("", ModuleTreeModel::kFp32, Qt::CheckStateRole).toInt(), Qt::PartiallyChecked);
}

TEST_F(Modules, SaysByWhomAModuleIsCovered) {
  m_bench.toggle(QStringLiteral("block"), RegionKind::inputsToFp32);
  EXPECT_EQ(dataOf("block.fc1", ModuleTreeModel::kFp32, Qt::ToolTipRole).toString(), QStringLiteral("Kept in FP32 by block"));
  EXPECT_EQ(menuOf("block.fc1").front(), QStringLiteral("Kept in FP32 by block; change it there"));
}

TEST_F(Modules, IsGreyAndSaysSoWhileResultsAreStale) {
  EXPECT_FALSE(dataOf("head", ModuleTreeModel::kBadge, ModuleTreeModel::kStaleRole).toBool());
  EXPECT_EQ(m_panel.policyText(), QStringLiteral("Policy: FP32: block.fc2"));
  m_bench.toggle(QStringLiteral("head"), RegionKind::inputsToFp32);
  EXPECT_TRUE(dataOf("head", ModuleTreeModel::kBadge, ModuleTreeModel::kStaleRole).toBool());
  EXPECT_TRUE(dataOf("head", ModuleTreeModel::kBadge, Qt::ToolTipRole).toString().endsWith(QStringLiteral("(stale: of another policy than the one chosen now)")));
  EXPECT_EQ(m_panel.policyText(), QStringLiteral("Policy: FP32: block.fc2, head\nStale: dtypes and errors are run 2's, of another policy"));
  m_bench.undoStack().undo();
  EXPECT_FALSE(dataOf("head", ModuleTreeModel::kBadge, ModuleTreeModel::kStaleRole).toBool());
}

TEST_F(Modules, FiltersByTypeAndCombinesWords) {
  filter("type:linear");
  EXPECT_EQ(shown(), (QStringList{QString(), QStringLiteral("block"), QStringLiteral("block.fc1"), QStringLiteral("block.fc2"), QStringLiteral("head")}));
  filter("type:Linear >4e-3 block");
  EXPECT_EQ(shown(), (QStringList{QString(), QStringLiteral("block"), QStringLiteral("block.fc1")}));
  filter("fp32");
  EXPECT_EQ(shown(), (QStringList{QString(), QStringLiteral("block"), QStringLiteral("block.fc2")}));
  EXPECT_EQ(m_panel.message(), QString());
}

// Worst errors 5e-3, 2e-4, 3e-4, 5e-2 by FP16's tolerance of 1e-3 (torch.testing's).
TEST_F(Modules, ShowsTheRatioToTheToleranceInAColumn) {
  EXPECT_EQ(dataOf("block.fc1", ModuleTreeModel::kRatio).toString(), QStringLiteral("5"));
  EXPECT_EQ(dataOf("block.fc2", ModuleTreeModel::kRatio).toString(), QStringLiteral("0.2"));
  EXPECT_EQ(dataOf("block", ModuleTreeModel::kRatio).toString(), QStringLiteral("5")) << "the worst inside";
  EXPECT_EQ(dataOf("", ModuleTreeModel::kRatio).toString(), QStringLiteral("50"));
  EXPECT_EQ(dataOf("head", ModuleTreeModel::kRatio, Qt::ToolTipRole).toString(), QStringLiteral("worst relative L2 error is 50 times the tolerance of its op site"));
  filter("type:Linear >5.1x");
  EXPECT_EQ(shown(), (QStringList{QString(), QStringLiteral("head")}));
  filter("type:Linear >4.9x");
  EXPECT_EQ(shown(), (QStringList{QString(), QStringLiteral("block"), QStringLiteral("block.fc1"), QStringLiteral("head")}));
}

TEST_F(Modules, PutsNonfiniteValuesOutsideAnyTolerance) {
  m_bench.setView(views::RunView::a);  // fc2 overflows, norm and head follow
  EXPECT_EQ(dataOf("block.fc2", ModuleTreeModel::kRatio).toString(), QStringLiteral("+inf")) << "though its finite part is at 0.2";
  EXPECT_EQ(dataOf("block.fc2", ModuleTreeModel::kRatio, Qt::ToolTipRole).toString(),
            QStringLiteral("NaN and infinities are outside any tolerance; what is finite in both runs: 0.2 times the tolerance of its op site"));
  EXPECT_EQ(dataOf("block.fc1", ModuleTreeModel::kRatio).toString(), QStringLiteral("5"));
}

TEST(Ratio, SaysNothingOfWhatWasNotCompared) {
  session::RunRecord run = testing::sampleRun(Sick::no);
  run.sites[3].values[session::Metric::relL2] = std::nan("");
  EXPECT_EQ(models::moduleBadges(run).at("head").ratioText(), QStringLiteral("–"));
  EXPECT_EQ(models::moduleBadges(run).at("head").ratioToSort(), -1);
  run.sites[3].values[session::Metric::relL2] = 0;
  EXPECT_EQ(models::moduleBadges(run).at("head").ratioText(), QStringLiteral("0"));
  EXPECT_EQ(models::Badge().ratioText(), QStringLiteral("–"));
}

TEST_F(Modules, KeepsRoomForNamesInANarrowDock) {
  const auto columns = [this](int width) {
    m_panel.resize(width, 500);
    QCoreApplication::processEvents();
    const QTreeView& tree = *m_panel.tree();
    EXPECT_GE(tree.columnWidth(ModuleTreeModel::kModule), 70) << width;
    return QList<bool>{!tree.isColumnHidden(ModuleTreeModel::kDtype), !tree.isColumnHidden(ModuleTreeModel::kRatio), !tree.isColumnHidden(ModuleTreeModel::kBadge), !tree.isColumnHidden(ModuleTreeModel::kFp32)};
  };
  EXPECT_EQ(columns(378), (QList<bool>{true, true, true, true})) << "the dock's own width";
  EXPECT_EQ(columns(330), (QList<bool>{true, false, true, true})) << "the badge's tooltip has the ratio too";
  EXPECT_EQ(columns(378), (QList<bool>{true, true, true, true}));
}

TEST_F(Modules, SaysWhenNothingMatchesAndWhenAWordCannotBeRead) {
  filter("type:Conv nonfinite");
  EXPECT_EQ(m_panel.message(), QStringLiteral("No module matches type:conv and nonfinite. Words that all must match: a name, type:Linear, >1e-2, >5x, nonfinite, fp32."));
  filter(">much");
  EXPECT_EQ(m_panel.message(), QStringLiteral(">much: not a number after >; write >1e-2 or >5x"));
  filter("fc");
  EXPECT_EQ(m_panel.message(), QString());
}

TEST_F(Modules, UnfoldsForAFilterAndGoesBackAfterIt) {
  const QModelIndex block = m_panel.viewIndexOf(QStringLiteral("block"), 0);
  m_panel.tree()->collapse(block);
  const QStringList before = shown();
  ASSERT_FALSE(before.contains(QStringLiteral("block.fc1")));
  filter("fc1");
  EXPECT_TRUE(shown().contains(QStringLiteral("block.fc1")));
  m_panel.filterField()->clear();
  EXPECT_EQ(shown(), before);
}

TEST_F(Modules, OrdersTheModulesInsideEachOne) {
  const auto order = [this](const char* words) {
    for (QComboBox* combo : m_panel.findChildren<QComboBox*>()) combo->setCurrentText(QLatin1String(words));
    return shown();
  };
  const QStringList asDefined = shown();
  EXPECT_EQ(order("worst error"), (QStringList{QString(), QStringLiteral("head"), QStringLiteral("block"), QStringLiteral("block.fc1"), QStringLiteral("block.norm"), QStringLiteral("block.fc2")}));
  EXPECT_EQ(order("times tolerance"), (QStringList{QString(), QStringLiteral("head"), QStringLiteral("block"), QStringLiteral("block.fc1"), QStringLiteral("block.norm"), QStringLiteral("block.fc2")}));
  EXPECT_EQ(order("name").mid(1, 4), (QStringList{QStringLiteral("block"), QStringLiteral("block.fc1"), QStringLiteral("block.fc2"), QStringLiteral("block.norm")}));
  EXPECT_EQ(order("as defined"), asDefined);
}

// Errors that ops add: norm more than fc1, fc2 none, head was not measured.
models::RunPointer runWithIntroduced() {
  auto session = std::make_shared<session::Session>(testing::sampleSession());
  session::RunRecord run = testing::sampleRun(Sick::no);
  run.sites[0].values[session::Metric::introducedRelL2] = 1e-4;
  run.sites[1].values[session::Metric::introducedRelL2] = 0;
  run.sites[2].values[session::Metric::introducedRelL2] = 2e-3;
  session->runs = {run};
  return models::makeLoadedRun(session, session->runs.front(), nullptr, {});
}

TEST(Introduced, RanksModulesByWhatTheirOwnOpsAdd) {
  const auto ranked = models::rankedByIntroducedError(*runWithIntroduced()->run);
  ASSERT_EQ(ranked.size(), 2U);
  EXPECT_EQ(ranked[0].modulePath, "block.norm");
  EXPECT_EQ(ranked[0].site, 2);
  EXPECT_EQ(ranked[0].error, 2e-3);
  EXPECT_EQ(ranked[1].modulePath, "block.fc1");
}

TEST(Introduced, StandsInTheTooltipWithTheRatioToTheTolerance) {
  ModuleTreeModel model;
  model.setRun(runWithIntroduced());
  const auto tip = [&](const char* path) { return model.indexOf(QLatin1String(path), ModuleTreeModel::kBadge).data(Qt::ToolTipRole).toString(); };
  EXPECT_EQ(tip("block.fc1"), QStringLiteral("worst relative L2 error 0.005, 5 times the tolerance; largest introduced error 1.00e-04"));
  EXPECT_EQ(tip("block.norm"), QStringLiteral("worst relative L2 error 3.00e-04, 0.3 times the tolerance: within it; largest introduced error 0.002"));
  EXPECT_EQ(tip("block"), QStringLiteral("worst relative L2 error 0.005, 5 times the tolerance; largest introduced error 0.002")) << "each the worst inside, of whatever module";
  EXPECT_EQ(tip("head"), QStringLiteral("worst relative L2 error 0.05, 50 times the tolerance"));
}

TEST_F(Modules, CannotRankWhatNobodyMeasured) {
  for (QToolButton* button : m_panel.findChildren<QToolButton*>())
    if (button->text() == QStringLiteral("Where it starts")) {
      EXPECT_FALSE(button->isEnabled());
      EXPECT_EQ(button->toolTip(), QStringLiteral("No NaN or inf arises in this run, and it did not measure introduced errors (--observe full does)"));
    }
  const std::string before = selected();
  m_panel.selectNextStart();
  EXPECT_EQ(selected(), before);
}

TEST(Introduced, IsWalkedFromTheLargestOn) {
  QTemporaryDir folder;
  session::RunRecord run = *runWithIntroduced()->run;
  const QString path = folder.filePath(QStringLiteral("introduced.ulps"));
  ASSERT_TRUE(storage::addRun(path.toStdString(), testing::sampleSession(), run, testing::sampleMetrics(Sick::no), {}, storage::WriteMode::create).ok());
  views::Workbench bench{QString()};
  views::ModulesPanel panel(bench);
  bench.openSession(path);
  ASSERT_TRUE(testing::waitFor([&] { return bench.runB() != nullptr; }));
  QSignalSpy notices(&bench, &views::Workbench::notice);
  panel.selectNextStart();
  EXPECT_EQ(bench.selection().modulePath(), QStringLiteral("block.norm"));
  EXPECT_EQ(bench.selection().site(), 2);
  EXPECT_EQ(notices.back().front().toString(), QStringLiteral("Where it starts, 1 of 2: block.norm introduces an error of 0.002"));
  panel.selectNextStart();
  EXPECT_EQ(bench.selection().modulePath(), QStringLiteral("block.fc1"));
  panel.selectNextStart();
  EXPECT_EQ(bench.selection().modulePath(), QStringLiteral("block.norm")) << "around the end";
}

TEST_F(Modules, StartsWhereNanOrInfArisesWhateverErrorsAreIntroduced) {
  m_bench.setView(views::RunView::a);
  for (const QToolButton* button : m_panel.findChildren<QToolButton*>())
    EXPECT_TRUE(button->text() != QStringLiteral("Where it starts") || button->isEnabled()) << "though introduced errors were not measured";
  m_bench.selection().clear();
  QSignalSpy notices(&m_bench, &views::Workbench::notice);
  m_panel.selectNextStart();
  EXPECT_EQ(selected(), "block.fc2");
  EXPECT_EQ(m_bench.selection().site(), 1);
  EXPECT_EQ(m_bench.selection().sample(), 2) << "c";
  EXPECT_EQ(notices.back().front().toString(), QStringLiteral("Where it starts, 1 of 1: block.fc2 overflows: |x| = 81,920.5 > 65,504 in sample c."));
}

TEST(Introduced, ComesAfterTheOriginsOfNonfiniteValues) {
  session::RunRecord run = testing::sampleRun(Sick::yes);
  run.sites[1].values[session::Metric::introducedRelL2] = 9e-3;  // the origin itself
  run.sites[2].values[session::Metric::introducedRelL2] = 2e-3;
  const auto points = models::startingPoints(testing::sampleSession(), run);
  ASSERT_EQ(points.size(), 2U) << "an origin stands there once";
  EXPECT_EQ(points[0].site, 1);
  EXPECT_EQ(points[1].site, 2);
  EXPECT_EQ(points[1].error, 2e-3);
  EXPECT_TRUE(points[1].diagnosis.empty());
}

TEST(ModuleDtypes, AreThoseOfTheOutputsElseOfTheOpsElseOfThoseInside) {
  session::RunRecord run = testing::sampleRun(Sick::no);
  run.sites[0].candidateDtype = base::DType::float16;    // block.fc1
  run.sites[1].candidateDtype = base::DType::float32;    // block.fc2
  run.sites[2].candidateDtype = base::DType::bfloat16;   // block.norm, and block's output
  run.sites[3].candidateDtype = base::DType::int64;      // head: no floating op
  run.moduleOutputs = {{"block", 1, "output", 2, false}};
  const auto dtypes = models::moduleDtypes(run);
  const auto text = [&](const char* path) {
    const auto at = dtypes.find(path);
    return models::dtypesText(at == dtypes.end() ? models::ModuleDtypes() : at->second);
  };
  EXPECT_EQ(text("block.fc1"), QStringLiteral("FP16"));
  EXPECT_EQ(text("block.fc2"), QStringLiteral("FP32"));
  EXPECT_EQ(text("block"), QStringLiteral("BF16")) << "what it returned, not what ran inside";
  EXPECT_EQ(text(""), QStringLiteral("mixed"));
  EXPECT_EQ(text("head"), QStringLiteral("–"));
  EXPECT_EQ(models::dtypesTooltip(dtypes.at("")), QStringLiteral("groups other modules: the ops inside them returned float32, float16, bfloat16"));
  EXPECT_EQ(models::dtypesTooltip(dtypes.at("block")), QStringLiteral("returned bfloat16"));
  EXPECT_EQ(models::dtypesTooltip(dtypes.at("block.fc1")), QStringLiteral("its ops returned float16"));
  EXPECT_EQ(models::dtypesTooltip({}), QStringLiteral("no op of it returned floating-point values in this run"));
}

}  // namespace
}  // namespace ulpscope
