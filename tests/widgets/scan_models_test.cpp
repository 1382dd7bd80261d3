// A scan as tables and in words.
#include "sample_scan.h"
#include "sample_session.h"
#include "sample_training.h"
#include "widgets/models/number_order.h"
#include "widgets/models/scan_choice.h"
#include "widgets/models/scan_models.h"

#include <QAbstractItemModelTester>

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope {
namespace {

using models::ScanChoice;
using models::ScanPointer;
using session::ScanKind;
using testing::cells;
using testing::Regions;

ScanPointer loaded(session::Scan scan) { return models::makeLoadedScan(std::make_shared<const session::Session>(testing::sampleSession()), std::move(scan)); }

TEST(ScanTables, HaveThePointsOfASegmentInFull) {
  models::ScanPointsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setScan(loaded(testing::sampleSegment(Regions::none)));
  ASSERT_EQ(model.rowCount(), 20) << "17 of the grid, 3 closer looks";
  EXPECT_EQ(model.headerData(5, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("AMP FP16 margin"));
  EXPECT_EQ(model.headerData(8, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("FP32 cat"));
  // 31/64: cat 33/64 against dog 31/64, and 35/64 with 1/16 more.
  EXPECT_EQ(cells(model, 0), QStringList({QStringLiteral("0"), QStringLiteral("cat"), QStringLiteral("cat"), QStringLiteral("the same"), QStringLiteral("1"), QStringLiteral("0.9375"), QStringLiteral("0.0625"), QStringLiteral("1e-07"),
                                         QStringLiteral("1"), QStringLiteral("1"), QStringLiteral("0"), QStringLiteral("0.0625"), QStringLiteral("-1"), QStringLiteral("-1")}));
  EXPECT_EQ(model.index(9, 0).data().toString(), QStringLiteral("0.46875003")) << "the first float above 15/32, in the 9 digits that tell it from 15/32";
  EXPECT_EQ(model.index(9, 3).data().toString(), QStringLiteral("differ"));
  EXPECT_EQ(model.index(9, 0).data(models::kSortRole).toDouble(), static_cast<double>(std::nextafter(0.46875F, 1.0F)));
  model.setScan(nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(ScanTables, HaveThePointsOfAPlane) {
  models::ScanPointsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setScan(loaded(testing::samplePlane()));
  ASSERT_EQ(model.rowCount(), 81);
  EXPECT_EQ(model.index(13, 0).data().toString(), QStringLiteral("0.5"));
  EXPECT_EQ(model.index(13, 1).data().toString(), QStringLiteral("0.125"));
  EXPECT_EQ(model.index(13, 4).data().toString(), QStringLiteral("differ")) << "0.625 + 0.1 is over 0.7, and 0.625 is not";
}

TEST(ScanTables, HaveOnePointWithAllItsDigits) {
  const ScanPointer scan = loaded(testing::sampleSegment(Regions::none)), over = loaded(testing::sampleSegment(Regions::head));
  models::ScanPointModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const auto& point = scan->points[9]->at;
  model.setPoint(scan, &point);
  EXPECT_EQ(cells(model, 0), QStringList({QStringLiteral("decision"), QStringLiteral("cat"), QStringLiteral("dog"), QStringLiteral("differ"), QStringLiteral("–")}));
  EXPECT_EQ(model.index(3, 0).data().toString(), QStringLiteral("score dog"));
  EXPECT_EQ(model.index(3, 3).data().toString(), QStringLiteral("0.0625"));
  model.setPoint(scan, &scan->points[0]->at, over, &over->points[0]->at);
  EXPECT_EQ(model.index(3, 4).data().toString(), QStringLiteral("0.015625")) << "1/64, with head in FP32";
  EXPECT_EQ(model.headerData(4, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("Overlay, AMP FP16"));
  model.setPoint(nullptr, nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(ScanTables, TellWhatHappensAlongTheSegment) {
  session::Scan scan = testing::sampleSegment(Regions::none);
  scan.segment->flicker = {{{0.25F, 0.375F}, 17, 1}};
  scan.segment->candidateNoDecision = {{0.875F, 1}};
  scan.segment->disagreement.push_back({{0.25F, 0.375F}, 0, 1, true});
  models::ScanEventsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setScan(loaded(scan));
  QStringList what;
  for (int row = 0; row < model.rowCount(); ++row) what << model.index(row, 0).data().toString();
  EXPECT_EQ(what, QStringList({QStringLiteral("they disagree"), QStringLiteral("they disagree"), QStringLiteral("FP32 crosses"), QStringLiteral("AMP FP16 crosses"), QStringLiteral("FP32 in another order crosses"),
                               QStringLiteral("AMP FP16 flickers"), QStringLiteral("AMP FP16 has no decision"), QStringLiteral("looked at closely")}));
  EXPECT_EQ(model.index(1, models::ScanEventsModel::kDetail).data().toString(), QStringLiteral("FP32 cat, AMP FP16 dog; within FP32's noise"));
  EXPECT_EQ(model.index(5, models::ScanEventsModel::kDetail).data().toString(), QStringLiteral("17 changes, FP32 1"));
  EXPECT_EQ(model.index(5, 0).data(models::ScanEventsModel::kToRole).toDouble(), 0.375);
}

TEST(ScanTables, SortStepsWithWhatWasNotFoundLast) {
  models::NearSamplesModel model;
  models::NumberOrder order;
  order.setSourceModel(&model);
  const QAbstractItemModelTester t1(&model, QAbstractItemModelTester::FailureReportingMode::Fatal), t2(&order, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setScan(loaded(testing::sampleNear()));
  EXPECT_EQ(cells(model, 0), QStringList({QStringLiteral("a"), QStringLiteral("cat"), QStringLiteral("2"), QStringLiteral("1"), QStringLiteral("0.5"), QStringLiteral("dog"), QStringLiteral("dog"), QStringLiteral("0.4"), QString()}));
  EXPECT_EQ(model.index(1, models::NearSamplesModel::kReferenceStep).data().toString(), QStringLiteral("beyond 12.5"));
  order.sort(models::NearSamplesModel::kReferenceStep, Qt::DescendingOrder);
  EXPECT_EQ(order.index(0, 0).data().toString(), QStringLiteral("b"));
}

TEST(ScanTables, SayWhichSamplesAreDecidedWithinTheError) {
  models::DecidedWithinModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setScan(loaded(testing::sampleNear()));
  QStringList within;
  for (int row = 0; row < model.rowCount(); ++row) within << model.index(row, models::DecidedWithinModel::kWithin).data().toString();
  EXPECT_EQ(within, QStringList({QStringLiteral("yes"), QStringLiteral("yes"), QStringLiteral("no"), QStringLiteral("no")})) << "what has no decision is not decided within anything";
}

TEST(ScanWords, SayWhereTheRunsCrossAndHowFarTheyDiffer) {
  const ScanPointer scan = loaded(testing::sampleSegment(Regions::none));
  const QStringList lines = models::scanHeadline(*scan);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0], QStringLiteral("FP32 crosses at t = 0.50000006 (cat → dog); AMP FP16 crosses at t = 0.46875003 (cat → dog)"));
  EXPECT_EQ(lines[1], QStringLiteral("They disagree in 1 strip, 0.0313 of the way (0.125 in the input's L2 norm)")) << "1/32 of 4";
  EXPECT_TRUE(models::scanConditions(*scan).startsWith(QStringLiteral("17 grid points and 3 closer looks  ·  FP32 noise up to 1.00e-07  ·  no FP32 regions  ·  batches of 8, padded"))) << models::scanConditions(*scan).toStdString();
}

TEST(ScanWords, SayWhereThereIsNoBoundary) {
  session::Scan scan = testing::sampleSegment(Regions::none);
  scan.segment->referenceCrossings.clear();
  scan.segment->candidateCrossings.clear();
  scan.segment->disagreement.clear();
  EXPECT_EQ(models::scanHeadline(*loaded(scan)), QStringList(QStringLiteral("No boundary between a and b: both runs decide cat all the way")));
}

// Half of a segment without a decision is no agreement.
TEST(ScanWords, SayWhereARunDecidesNothing) {
  session::Scan scan = testing::sampleSegment(Regions::none);
  scan.segment->referenceCrossings.clear();
  scan.segment->candidateCrossings.clear();
  scan.segment->disagreement.clear();
  scan.segment->candidateNoDecision = {{0.5F, 0.75F}, {0.875F, 1}};
  const QStringList lines = models::scanHeadline(*loaded(scan));
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(lines[1], QStringLiteral("They decide the same wherever both decide, at all points that were looked at"));
  EXPECT_EQ(lines[2], QStringLiteral("AMP FP16 has no decision (NaN) in 2 pieces, first from t = 0.5 to 0.75"));
}

TEST(ScanWords, OfPlanesAndOfNearestFlips) {
  EXPECT_EQ(models::scanHeadline(*loaded(testing::samplePlane())).front(), QStringLiteral("6 of 81 points flip (7.41 %)")) << "the diagonal i + j = 5";
  const QStringList near = models::scanHeadline(*loaded(testing::sampleNear()));
  EXPECT_EQ(near[0], QStringLiteral("2 of 4 samples of the set are decided within the error of AMP FP16"));
  EXPECT_EQ(near[1], QStringLiteral("No decision (NaN) in a run for 1 sample"));
  EXPECT_EQ(near[2], QStringLiteral("Boundary found for both runs from 1 of 2 samples; AMP FP16's is the nearer one from 1"));
}

TEST(ScanWords, FindADecisionOfOneScanAmongThoseOfAnother) {
  session::Scan other = testing::sampleSegment(Regions::head);
  other.decisions = {{{1}}, {{2}}};
  const ScanPointer a = loaded(testing::sampleSegment(Regions::none)), b = loaded(other);
  EXPECT_EQ(models::decisionIn(*a, *b, 0), 1);
  EXPECT_EQ(models::decisionIn(*a, *b, 1), 2) << "emu is none of a's two";
  EXPECT_EQ(models::decisionIn(*a, *b, session::kNoDecision), session::kNoDecision);
}

TEST(ScanWords, LayOnlyTheSameQuestionOverAScan) {
  const session::Scan scan = testing::sampleSegment(Regions::none);
  EXPECT_TRUE(models::areComparable(scan, testing::sampleSegment(Regions::head)));
  EXPECT_FALSE(models::areComparable(scan, testing::samplePlane()));
  session::Scan other = scan;
  other.sampleIds = {"b", "a"};
  EXPECT_FALSE(models::areComparable(scan, other));
}

class Choice : public ::testing::Test {
 protected:
  QString problem() { return models::scanProblem(m_choice, m_session); }
  session::Session m_session = testing::sampleSession();
  ScanChoice m_choice;
};

TEST_F(Choice, SaysWhatIsMissing) {
  EXPECT_EQ(problem(), QStringLiteral("From: choose a sample"));
  m_choice.setSample(ScanChoice::kFrom, QStringLiteral("a"));
  EXPECT_EQ(problem(), QStringLiteral("To: choose a sample"));
  m_choice.setSample(ScanChoice::kTo, QStringLiteral("a"));
  EXPECT_TRUE(problem().contains(QStringLiteral("nothing between a sample and itself"))) << problem().toStdString();
  m_choice.setSample(ScanChoice::kTo, QStringLiteral("z"));
  EXPECT_EQ(problem(), QStringLiteral("To: there is no sample 'z' in this session"));
  m_choice.setSample(ScanChoice::kTo, QStringLiteral("b"));
  EXPECT_EQ(problem(), QString());
  m_choice.setKind(ScanKind::plane);
  EXPECT_EQ(problem(), QStringLiteral("Third: choose a sample"));
  m_choice.clear();
  m_choice.setKind(ScanKind::near);
  EXPECT_EQ(problem(), QString()) << "all samples";
}

TEST_F(Choice, AsksWithTheRunsSettingsAndOnlyTheRegionsThatAreNew) {
  const models::RunPointer run = testing::loadedSample(testing::Sick::yes);
  m_choice.setSample(ScanChoice::kFrom, QStringLiteral("a"));
  m_choice.setSample(ScanChoice::kTo, QStringLiteral("b"));
  m_choice.setNumbers(101, 64, 1);
  const models::Fp32Regions pending = models::Fp32Regions(run->run->settings).toggled(QStringLiteral("head"), models::RegionKind::inputsToFp32);
  session::ScanRequest request = models::scanRequest(m_choice, run, pending);
  EXPECT_EQ(request.samples, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.runId, "run_0001");
  EXPECT_EQ(request.steps, 101);
  EXPECT_EQ(request.fp32, std::vector<std::string>{"head"});
  m_choice.setWithRegions(false);
  EXPECT_TRUE(models::scanRequest(m_choice, run, pending).fp32.empty());
  session::RunSettings kept;
  kept.fp32 = {"head"};
  EXPECT_FALSE(models::addedRegions(kept, models::Fp32Regions()).has_value()) << "a scan cannot take a region away";
}

TEST_F(Choice, IsNotThereWithoutADecision) {
  EXPECT_TRUE(models::whyNoScan(nullptr, {}).startsWith(QStringLiteral("There is no run yet")));
  auto session = std::make_shared<session::Session>(testing::sampleSession());
  session->runs = {testing::sampleRun(testing::Sick::yes)};
  const auto why = [&] { return models::whyNoScan(models::makeLoadedRun(session, session->runs.front(), nullptr, {}), {}); };
  EXPECT_EQ(why(), QString());
  session->runs.front().settings.decision = {};
  EXPECT_TRUE(why().contains(QStringLiteral("decides nothing"))) << why().toStdString();
  session->runs.front().settings.mode = session::Mode::recorded;
  EXPECT_TRUE(why().contains(QStringLiteral("was recorded in Python"))) << why().toStdString();
}

}  // namespace
}  // namespace ulpscope
