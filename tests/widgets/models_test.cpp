#include "sample_session.h"
#include "widgets/models/badge.h"
#include "widgets/models/decisions_model.h"
#include "widgets/models/heatmap_table_model.h"
#include "widgets/models/module_filter_model.h"
#include "widgets/models/module_tree_model.h"
#include "widgets/models/nonfinite_model.h"
#include "widgets/models/runs_model.h"
#include "widgets/models/site_model.h"
#include "widgets/models/text.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope {
namespace {

using models::Badge;
using models::ModuleTreeModel;
using models::RegionKind;
using testing::Sick;
using Tester = QAbstractItemModelTester;

Badge badgeOf(const ModuleTreeModel& model, const char* path) {
  return model.indexOf(QLatin1String(path), ModuleTreeModel::kBadge).data(ModuleTreeModel::kBadgeRole).value<Badge>();
}

TEST(ModuleTree, IsAWellFormedModelAndFollowsNewRuns) {
  ModuleTreeModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  model.setRun(testing::loadedSample(Sick::yes));
  model.setRun(testing::loadedSample(Sick::no));
  EXPECT_EQ(resets.size(), 1) << "a new run of the same model must not collapse the tree";
  EXPECT_EQ(model.indexOf(QStringLiteral("block.fc2")).data().toString(), QStringLiteral("fc2"));
  EXPECT_EQ(model.indexOf(QString()).data().toString(), QStringLiteral("(root)"));
  EXPECT_FALSE(model.indexOf(QStringLiteral("nowhere")).isValid());
}

TEST(ModuleTree, ShowsTheWorstOfAModulesSitesAndOfThoseBelow) {
  ModuleTreeModel model;
  model.setRun(testing::loadedSample(Sick::yes));
  EXPECT_EQ(badgeOf(model, "block.fc2").kind, Badge::Kind::origin);
  EXPECT_EQ(badgeOf(model, "block").kind, Badge::Kind::origin);
  EXPECT_EQ(badgeOf(model, "").kind, Badge::Kind::origin);
  EXPECT_EQ(badgeOf(model, "head").kind, Badge::Kind::consequence);
  EXPECT_EQ(badgeOf(model, "head").text(), QStringLiteral("from above"));
}

TEST(ModuleTree, MeasuresErrorsByTheSiteTolerance) {
  ModuleTreeModel model;
  model.setRun(testing::loadedSample(Sick::no));
  EXPECT_EQ(badgeOf(model, "block.norm").kind, Badge::Kind::withinTolerance);  // 3e-4 of 1e-3
  EXPECT_EQ(badgeOf(model, "block.fc1").kind, Badge::Kind::overTolerance);     // 5 times
  EXPECT_EQ(badgeOf(model, "head").kind, Badge::Kind::farOver);                // 50 times
  EXPECT_NEAR(badgeOf(model, "head").ratio, 50, 1e-9);
}

TEST(ModuleTree, ChecksWhatIsKeptInFp32AndMarksWhatIsAboveAndBelow) {
  ModuleTreeModel model;
  model.setRun(testing::loadedSample(Sick::yes));
  model.setRegions(models::Fp32Regions().toggled(QStringLiteral("block"), RegionKind::inputsToFp32));
  const auto state = [&](const char* path) { return model.indexOf(QLatin1String(path), ModuleTreeModel::kFp32).data(Qt::CheckStateRole).toInt(); };
  EXPECT_EQ(state("block"), Qt::Checked);
  EXPECT_EQ(state("block.fc1"), Qt::Checked);
  EXPECT_EQ(state(""), Qt::PartiallyChecked);
  EXPECT_EQ(state("head"), Qt::Unchecked);
}

TEST(ModuleTree, AsksForAToggleAndLeavesTheChangeToUndo) {
  ModuleTreeModel model;
  model.setRun(testing::loadedSample(Sick::yes));
  QSignalSpy asked(&model, &ModuleTreeModel::toggleRequested);
  const QModelIndex index = model.indexOf(QStringLiteral("head"), ModuleTreeModel::kFp32);
  EXPECT_TRUE(model.setData(index, Qt::Checked, Qt::CheckStateRole));
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked.front().front().toString(), QStringLiteral("head"));
  EXPECT_EQ(index.data(Qt::CheckStateRole).toInt(), Qt::Unchecked);
}

TEST(Regions, KnowTheRootAsADotAndModulesCoveredByGlobs) {
  const auto root = models::Fp32Regions().toggled(QString(), RegionKind::inputsToFp32);
  EXPECT_EQ(root.fp32(), std::vector<std::string>{"."});
  EXPECT_EQ(root.coveredBy(QStringLiteral("a.b"), RegionKind::inputsToFp32), QStringLiteral("."));
  session::RunSettings settings;
  settings.fp32 = {"*.norm"};
  const models::Fp32Regions globs(settings);
  EXPECT_EQ(globs.coveredBy(QStringLiteral("block.norm.inner"), RegionKind::inputsToFp32), QStringLiteral("*.norm"));
  EXPECT_TRUE(globs.coveredBy(QStringLiteral("block.fc1"), RegionKind::inputsToFp32).isEmpty());
}

TEST(Regions, HoldAModuleInOneListAtMost) {
  const auto both = models::Fp32Regions().toggled(QStringLiteral("x"), RegionKind::inputsToFp32).toggled(QStringLiteral("x"), RegionKind::inputsAsTheyAre);
  EXPECT_TRUE(both.fp32().empty());
  EXPECT_EQ(both.disable(), std::vector<std::string>{"x"});
  EXPECT_TRUE(both.toggled(QStringLiteral("x"), RegionKind::inputsAsTheyAre) == models::Fp32Regions());
}

QStringList accepted(const QString& filter, const models::Fp32Regions& regions = {}) {
  ModuleTreeModel model;
  model.setRun(testing::loadedSample(Sick::yes));
  model.setRegions(regions);
  models::ModuleFilterModel proxy;
  const Tester tester(&proxy, Tester::FailureReportingMode::Fatal);
  proxy.setSourceModel(&model);
  proxy.setFilterText(filter);
  QStringList paths;
  std::function<void(const QModelIndex&)> walk = [&](const QModelIndex& parent) {
    for (int row = 0; row < proxy.rowCount(parent); ++row) {
      const QModelIndex index = proxy.index(row, 0, parent);
      paths << index.data(ModuleTreeModel::kPathRole).toString();
      walk(index);
    }
  };
  walk({});
  return paths;
}

TEST(Filter, FindsNamesTypesErrorsAndNonfinite) {
  EXPECT_EQ(accepted(QStringLiteral("fc1")), (QStringList{QString(), QStringLiteral("block"), QStringLiteral("block.fc1")}));
  EXPECT_EQ(accepted(QStringLiteral("layernorm")).last(), QStringLiteral("block.norm"));
  EXPECT_EQ(accepted(QStringLiteral("linear >4e-3")).size(), 5);  // root, block, fc1, fc2 (non-finite), head
  EXPECT_FALSE(accepted(QStringLiteral("nonfinite")).contains(QStringLiteral("block.fc1")));
  EXPECT_TRUE(accepted(QStringLiteral("nosuchthing")).isEmpty());
  const auto kept = models::Fp32Regions().toggled(QStringLiteral("head"), RegionKind::inputsToFp32);
  EXPECT_EQ(accepted(QStringLiteral("fp32 linear"), kept), (QStringList{QString(), QStringLiteral("head")}));
}

TEST(Tables, AreWellFormedModels) {
  models::NonfiniteModel nonfinite;
  models::DecisionsModel decisions;
  models::RunsModel runs;
  models::SiteModel sites;
  models::HeatmapTableModel heatmap;
  const Tester t1(&nonfinite, Tester::FailureReportingMode::Fatal), t2(&decisions, Tester::FailureReportingMode::Fatal),
      t3(&runs, Tester::FailureReportingMode::Fatal), t4(&sites, Tester::FailureReportingMode::Fatal), t5(&heatmap, Tester::FailureReportingMode::Fatal);
  const models::RunPointer run = testing::loadedSample(Sick::yes);
  nonfinite.setRun(run);
  decisions.setRun(run);
  decisions.setShow(models::DecisionsModel::Show::all);
  runs.setSession(run->session, {}, run->id());
  sites.setModule(run, QStringLiteral("block"));
  auto content = std::make_shared<models::HeatmapContent>();
  content->rows = run->rows;
  content->cells = std::make_shared<const render::HeatmapData>(render::moduleHeatmap(run->rows, *run->metrics, render::Metric::relL2));
  content->columns = {3, 2, 1, 0};
  content->sampleIds = {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c"), QStringLiteral("d")};
  heatmap.setContent(content);
  EXPECT_EQ(heatmap.headerData(0, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("d"));
  EXPECT_EQ(heatmap.index(1, 1).data().toString(), QStringLiteral("+inf"));
  EXPECT_EQ(sites.rowCount(), 3) << "a module without sites of its own shows those inside";
}

TEST(Nonfinite, HasTheCauseAsItsThirdColumn) {
  models::NonfiniteModel model;
  model.setRun(testing::loadedSample(Sick::yes));
  ASSERT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.headerData(2, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("Cause"));
  EXPECT_EQ(model.index(0, 2).data().toString(), QStringLiteral("overflow"));
  EXPECT_EQ(model.index(0, models::NonfiniteModel::kElements).data().toString(), QStringLiteral("3 +inf"));
}

TEST(Site, StatesHeadroomAgainstTheLowFormat) {
  const auto facts = models::siteFacts(*testing::loadedSample(Sick::yes), 1, 2);
  const auto value = [&](const char* name) {
    for (const models::Fact& fact : facts)
      if (fact.name == QLatin1String(name)) return fact.value;
    return QString();
  };
  EXPECT_EQ(value("FP32 max |x|"), QStringLiteral("81,920.5"));
  EXPECT_EQ(value("float16 max"), QStringLiteral("65,504"));
  EXPECT_EQ(value("headroom"), QStringLiteral("-0.323 bits"));  // log2(65504 / 81920.5) = -0.32265
  EXPECT_EQ(value("relative L2, c"), QStringLiteral("+inf"));
  EXPECT_EQ(value("non-finite in AMP only"), QStringLiteral("3 +inf"));
  EXPECT_EQ(models::operandsText(*testing::loadedSample(Sick::yes), 1), QStringLiteral("input: float16, -900 to 812, max |x| 900"));
}

TEST(NoNumber, SaysWhy) {
  auto session = std::make_shared<session::Session>(testing::sampleSession());
  session->runs = {testing::sampleRun(testing::Sick::no)};
  session::RunRecord& run = session->runs.front();
  run.sites[0].viewOf = "self";
  run.sites[1].candidateDtype = base::DType::int64;
  run.settings.onlySamples = {"a", "b"};
  const models::RunPointer loaded = models::makeLoadedRun(session, run, nullptr, {});
  EXPECT_EQ(models::whyNoNumber(*loaded, {0}, 0), QStringLiteral("it ran, but only gives a view of its argument 'self': the same values, with the numbers of the op that made them"));
  run.sites[0].viewOf = "block.fc1: aten::linear";
  EXPECT_EQ(models::whyNoNumber(*loaded, {0}, 0), QStringLiteral("it ran, but only gives a view of block.fc1: aten::linear: the same values, with the numbers of the op that made them"));
  EXPECT_EQ(models::whyNoNumber(*loaded, {1}, 0), QStringLiteral("whole numbers, which have no such error"));
  EXPECT_EQ(models::whyNoNumber(*loaded, {0, 2}, 1), QStringLiteral("nothing finite to compare, or not reached"));
  EXPECT_EQ(models::whyNoNumber(*loaded, {0}, 2), QStringLiteral("not run: this run left the sample out"));
}

TEST(VerdictLine, SaysWhetherThereIsAVerdictAndByWhat) {
  session::Session session = testing::sampleSession();
  session::RunRecord run = testing::sampleRun(Sick::yes);
  EXPECT_EQ(models::verdictLine(session, run), QStringLiteral("exploratory: no criteria, no verdict"));
  session.criteria = {{1, "", "sha", "{}", false, ""}};
  EXPECT_EQ(models::verdictLine(session, run), QStringLiteral("no verdict"));
  run.verdict.emplace();
  run.verdict->status = session::JudgedAs::fail;
  run.verdict->revision = 1;
  EXPECT_EQ(models::verdictLine(session, run), QStringLiteral("verdict: fail (criteria revision 1)"));
  session.criteria.push_back({2, "", "sha", "{}", true, ""});
  EXPECT_EQ(models::verdictLine(session, run), QStringLiteral("verdict: fail (criteria revision 1), revised since, criteria after results"));
}

}  // namespace
}  // namespace ulpscope
