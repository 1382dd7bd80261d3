#include "sample_session.h"
#include "widgets/models/headroom_model.h"
#include "widgets/models/number_order.h"
#include "widgets/plots/headroom_plot.h"
#include "widgets/views/headroom_panel.h"

#include <QAbstractItemModelTester>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope {
namespace {

using models::HeadroomModel;
using session::Metric;

// The sample's sites: fc1 with 100, fc2 with 81920.5 (an origin), norm and head with 100; here norm has 40000 and head lost its range.
session::RunRecord fourSites() {
  session::RunRecord run = testing::sampleRun(testing::Sick::yes);
  run.sites[0].values[Metric::shareFlushed] = 0.25;
  run.sites[0].values[Metric::referenceSmallest] = 3e-8;
  run.sites[2].values[Metric::referenceMaxAbs] = 40000;
  run.sites[2].values[Metric::headroomBits] = std::log2(65504 / 40000.0);
  run.sites[2].candidateOnly = {8, 0, 0};
  run.sites[3].viewOf = "block.norm: input";
  return run;
}

TEST(HeadroomTable, HasTheNumbersOfThePlot) {
  auto session = std::make_shared<session::Session>(testing::sampleSession());
  session->runs = {fourSites()};
  const auto run = models::makeLoadedRun(session, session->runs.front(), nullptr, {});
  HeadroomModel model;
  models::NumberOrder order;
  order.setSourceModel(&model);
  const QAbstractItemModelTester t1(&model, QAbstractItemModelTester::FailureReportingMode::Fatal), t2(&order, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setRun(run, render::headroomSites(*run->run));
  ASSERT_EQ(model.rowCount(), 3) << "a view has no range of its own";
  const auto row = [&](int r) {
    QStringList cells;
    for (int c = 0; c < model.columnCount(); ++c) cells << model.index(r, c).data().toString();
    return cells.join(QStringLiteral(" | "));
  };
  EXPECT_EQ(row(0), QStringLiteral("1 | block.fc1: aten::linear | 9.36 | 1 bit or more | 100 | 100 | float16 | 3.00e-08 | – | 25 %"));
  EXPECT_EQ(row(1), QStringLiteral("2 | block.fc2: aten::linear | -0.323 | overflows | 81,920.5 | 100 | float16 | – | – | –"));
  order.sort(HeadroomModel::kHeadroom, Qt::AscendingOrder);
  EXPECT_EQ(order.index(0, HeadroomModel::kSite).data().toString(), QStringLiteral("block.fc2: aten::linear"));
  EXPECT_EQ(order.index(1, HeadroomModel::kState).data().toString(), QStringLiteral("less than 1 bit"));
  order.sort(HeadroomModel::kFlushed, Qt::DescendingOrder);
  EXPECT_EQ(order.index(0, HeadroomModel::kOrder).data().toString(), QStringLiteral("1")) << "not measured is no share, and last";
}

class Headroom : public ::testing::Test {
 protected:
  Headroom() : m_bench(m_folder.filePath(QStringLiteral("demos"))), m_panel(m_bench) {
    m_panel.resize(900, 260);
    m_panel.show();
  }
  void open(int runs) {
    m_bench.openSession(testing::writeSample(m_folder, runs));
    ASSERT_TRUE(testing::waitFor([this] { return m_bench.runB() != nullptr; }));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_panel));
  }

  QTemporaryDir m_folder;
  views::Workbench m_bench;
  views::HeadroomPanel m_panel;
};

TEST_F(Headroom, MarksWhatOverflows) {
  open(1);
  EXPECT_EQ(m_panel.summary(), QStringLiteral("4 op sites  ·  overflows: 1"));
  EXPECT_TRUE(m_panel.plot()->legendText().contains(QStringLiteral("overflows: 1"))) << m_panel.plot()->legendText().toStdString();
  EXPECT_EQ(m_panel.alarming(), 1);
  ASSERT_TRUE(m_panel.plot()->pixelOf(0) && m_panel.plot()->pixelOf(1));
  EXPECT_LT(m_panel.plot()->pixelOf(1)->y(), m_panel.plot()->pixelOf(0)->y()) << "81,920 stands above 100";
}

TEST_F(Headroom, SaysWhatLiesBelowItsAxis) {
  session::RunRecord run = testing::sampleRun(testing::Sick::no);
  run.sites[0].values[Metric::candidateSmallest] = 1.4e-45;
  run.sites[2].values[Metric::referenceMaxAbs] = run.sites[2].values[Metric::candidateMaxAbs] = 0;
  const QString path = m_folder.filePath(QStringLiteral("tiny.ulps"));
  ASSERT_TRUE(storage::addRun(path.toStdString(), testing::sampleSession(), run, testing::sampleMetrics(testing::Sick::no), {}, storage::WriteMode::create).ok());
  m_bench.openSession(path);
  ASSERT_TRUE(testing::waitFor([this] { return m_bench.runB() != nullptr; }));
  const QString legend = m_panel.plot()->legendText();
  EXPECT_TRUE(legend.contains(QStringLiteral("below the axis: 1"))) << legend.toStdString();
  EXPECT_TRUE(legend.contains(QStringLiteral("zeros only: 1"))) << legend.toStdString();
  EXPECT_TRUE(m_panel.plot()->tooltipOf(0).contains(QStringLiteral("1.40e-45"))) << "the value itself: " << m_panel.plot()->tooltipOf(0).toStdString();
}

TEST_F(Headroom, SelectsASiteByMouseKeyAndTable) {
  open(1);
  m_bench.selection().clear();
  QTest::mouseClick(m_panel.plot()->surface(), Qt::LeftButton, {}, m_panel.plot()->pixelOf(3)->toPoint());
  EXPECT_EQ(m_bench.selection().site(), 3);
  EXPECT_EQ(m_bench.selection().modulePath().value_or(QString()), QStringLiteral("head"));
  EXPECT_EQ(m_panel.table()->currentIndex().row(), 3);
  m_panel.plot()->setFocus();
  QTest::keyClick(m_panel.plot(), Qt::Key_Left);
  EXPECT_EQ(m_bench.selection().site(), 2);
  QTest::keyClick(m_panel.plot(), Qt::Key_Home);
  EXPECT_EQ(m_bench.selection().site(), 0);
  QTest::mouseClick(m_panel.table()->viewport(), Qt::LeftButton, {}, m_panel.table()->visualRect(m_panel.table()->model()->index(1, 1)).center());
  EXPECT_EQ(m_bench.selection().site(), 1);
}

TEST_F(Headroom, ShowsTheOtherRunBeside) {
  open(2);
  EXPECT_TRUE(m_panel.plot()->legendText().contains(QStringLiteral("max |x| AMP FP16, run 1"))) << m_panel.plot()->legendText().toStdString();
  EXPECT_TRUE(m_panel.plot()->tooltipOf(0).endsWith(QStringLiteral("\nmax |x| in run 1: 100"))) << m_panel.plot()->tooltipOf(0).toStdString();
  m_bench.setView(views::RunView::a);
  EXPECT_TRUE(m_panel.plot()->legendText().contains(QStringLiteral("run 2")));
}

TEST_F(Headroom, SaysWhyThereIsNothingToShow) {
  session::RunRecord run = testing::sampleRun(testing::Sick::no);
  run.sites.clear();
  run.moduleOutputs.clear();
  run.flips.clear();
  run.settings.observe = session::Observe::outputs;
  storage::RunMetrics metrics;
  metrics[Metric::relL2] = metrics[Metric::maxAbs] = {0, 4, {}};
  const QString path = m_folder.filePath(QStringLiteral("screened.ulps"));
  const auto written = storage::addRun(path.toStdString(), testing::sampleSession(), run, metrics, {}, storage::WriteMode::create);
  ASSERT_TRUE(written.ok()) << written.error().message();
  m_bench.openSession(path);
  ASSERT_TRUE(testing::waitFor([this] { return m_bench.runB() != nullptr; }));
  EXPECT_TRUE(m_panel.summary().startsWith(QStringLiteral("This run looked at outputs only"))) << m_panel.summary().toStdString();
  EXPECT_EQ(m_panel.table()->model()->rowCount(), 0);
}

}  // namespace
}  // namespace ulpscope
