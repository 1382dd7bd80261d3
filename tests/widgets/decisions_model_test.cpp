#include "eight_samples.h"
#include "widgets/models/decision_order.h"
#include "widgets/models/decisions_model.h"
#include "widgets/models/gallery_model.h"

#include <QAbstractItemModelTester>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

using models::DecisionsModel;
using models::GalleryModel;
using models::Outcome;
using testing::eightDecisions;
using testing::eightSamples;
using testing::idsOf;
using testing::loadedEight;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::string joined(const QStringList& ids) { return ids.join(u' ').toStdString(); }

TEST(Decisions, ShowTheWorstFirstAndMayShowAll) {
  DecisionsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setRun(loadedEight());
  EXPECT_EQ(idsOf(model), QStringList({"reg2", "reg1", "w2w", "fix", "nan", "fp32nan"}));
  model.setShow(DecisionsModel::Show::all);
  EXPECT_EQ(idsOf(model), QStringList({"reg2", "reg1", "w2w", "fix", "nan", "fp32nan", "late", "same"}));
  const auto cell = [&](int row, int column) { return model.index(row, column).data().toString(); };
  EXPECT_EQ(cell(0, DecisionsModel::kReference), QStringLiteral("cat"));
  EXPECT_EQ(cell(0, DecisionsModel::kCandidate), QStringLiteral("emu"));
  EXPECT_EQ(cell(0, DecisionsModel::kReferenceMargin), QStringLiteral("0.02"));
  EXPECT_EQ(cell(0, DecisionsModel::kFirstSite), QStringLiteral("block.fc1: aten::linear"));
  EXPECT_EQ(cell(2, DecisionsModel::kFirstSite), QStringLiteral("none over tolerance"));
  EXPECT_EQ(cell(0, DecisionsModel::kPossible), QStringLiteral("yes"));
  EXPECT_EQ(cell(6, DecisionsModel::kPossible), QStringLiteral("no")) << "0.001 is more than twice 0.0004";
  EXPECT_EQ(cell(3, DecisionsModel::kNoise), QStringLiteral("flips too"));
  EXPECT_EQ(cell(4, DecisionsModel::kKind), QStringLiteral("no decision"));
  EXPECT_EQ(cell(4, DecisionsModel::kCandidateMargin), QStringLiteral("NaN"));
  EXPECT_EQ(cell(4, DecisionsModel::kPossible), QString()) << "there is nothing to flip";
}

TEST(Decisions, NameWhatDidNotFlipOnceItIsKnown) {
  DecisionsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setRun(loadedEight());
  model.setShow(DecisionsModel::Show::all);
  const auto cell = [&](int row, int column) { return model.index(row, column).data().toString(); };
  EXPECT_EQ(cell(7, DecisionsModel::kReference), QString()) << "the session's table holds flips alone";
  // same, reg2, nan, fix, w2w, fp32nan, late, reg1
  model.setDecided(std::make_shared<const models::Decided>(models::Decided{{1}, {1}, {1}, {1}, {1}, {}, {}, {1}}));
  ASSERT_EQ(cell(7, 0), QStringLiteral("same"));
  EXPECT_EQ(cell(7, DecisionsModel::kReference), QStringLiteral("dog"));
  EXPECT_EQ(cell(7, DecisionsModel::kCandidate), QStringLiteral("dog"));
  EXPECT_EQ(cell(6, DecisionsModel::kReference), QString()) << "of 'late' nothing is known";
  EXPECT_EQ(cell(0, DecisionsModel::kReference), QStringLiteral("cat")) << "a flip tells itself";
  EXPECT_EQ(cell(4, DecisionsModel::kReference), QString()) << "AMP decides nothing there";
  model.setRun(nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(Gallery, TellsTheTrueLabelAndWhatDidNotFlip) {
  auto session = std::make_shared<session::Session>(eightSamples());
  session->samples.labels = {1, 0, 2, 2, 1, 0, 0, 7};
  session->runs = {eightDecisions()};
  GalleryModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setRun(models::makeLoadedRun(session, session->runs.front(), nullptr, {}));
  models::DecisionFilter all;
  all.all = true;
  model.setFilter(all);
  const auto at = [&](std::int64_t sample, int role) { return model.index(model.rowOfSample(sample)).data(role).toString(); };
  EXPECT_TRUE(model.hasLabels());
  EXPECT_EQ(at(0, GalleryModel::kLabelRole), QStringLiteral("label: dog"));
  EXPECT_EQ(at(7, GalleryModel::kLabelRole), QStringLiteral("label: 7")) << "a class without a name";
  EXPECT_EQ(at(0, GalleryModel::kDecisionRole), QString());
  model.setDecided(std::make_shared<const models::Decided>(models::Decided{{0, 2}, {1}, {1}, {1}, {1}, {}, {}, {1}}));
  EXPECT_EQ(at(0, GalleryModel::kDecisionRole), QStringLiteral("cat, emu"));
  EXPECT_TRUE(at(0, Qt::ToolTipRole).contains(QStringLiteral("FP32 and AMP FP16: cat, emu\nlabel dog"))) << at(0, Qt::ToolTipRole).toStdString();
  EXPECT_EQ(at(1, GalleryModel::kDecisionRole), QStringLiteral("cat → emu"));
  EXPECT_EQ(at(2, GalleryModel::kDecisionRole), QString()) << "no decision under AMP";
  model.setRun(loadedEight());
  EXPECT_FALSE(model.hasLabels());
  EXPECT_EQ(at(0, GalleryModel::kLabelRole), QString());
}

TEST(Decisions, SortNanLastEitherWay) {
  DecisionsModel model;
  models::DecisionOrder order;
  order.setSourceModel(&model);
  const QAbstractItemModelTester tester(&order, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setRun(loadedEight());
  model.setShow(DecisionsModel::Show::all);
  order.sort(DecisionsModel::kReferenceMargin, Qt::AscendingOrder);
  EXPECT_EQ(idsOf(order).join(u' ').toStdString(), joined({"late", "w2w", "fix", "reg2", "reg1", "nan", "same", "fp32nan"}));
  order.sort(DecisionsModel::kReferenceMargin, Qt::DescendingOrder);
  EXPECT_EQ(idsOf(order).join(u' ').toStdString(), joined({"same", "nan", "reg1", "reg2", "fix", "w2w", "late", "fp32nan"}));
  order.setMarginBelow(0.02);
  EXPECT_EQ(idsOf(order).join(u' ').toStdString(), joined({"fix", "w2w", "late"})) << "0.02 itself is not below, NaN is below nothing";
  order.setMarginBelow(kInf);
  EXPECT_EQ(order.rowCount(), 8);
  order.sort(DecisionsModel::kEffect, Qt::AscendingOrder);
  EXPECT_EQ(idsOf(order).first().toStdString(), "reg1") << "by what happened, not by the word; of two alike the one before";
}

TEST(Decisions, SayWhichSamplesDidNotRun) {
  auto session = std::make_shared<session::Session>(eightSamples());
  session->runs = {eightDecisions()};
  session->runs.front().settings.onlySamples = {"reg1", "same"};
  const auto run = models::makeLoadedRun(session, session->runs.front(), nullptr, {});
  const auto outcomes = models::sampleOutcomes(*run);
  EXPECT_EQ(outcomes[0].outcome, Outcome::same);
  EXPECT_EQ(outcomes[6].outcome, Outcome::notRun);
}

TEST(Gallery, IsAWellFormedModelThatSaysEverythingInWords) {
  GalleryModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setRun(loadedEight());
  EXPECT_EQ(idsOf(model), QStringList({"reg2", "reg1", "w2w", "fix", "nan", "fp32nan"}));
  EXPECT_EQ(model.index(0).data(Qt::AccessibleTextRole).toString(), QStringLiteral("sample reg2: regressed\nFP32 → AMP FP16: cat → emu\nFP32 margin 0.02, AMP FP16 0.01"));
  models::DecisionFilter filter;
  filter.all = true;
  filter.marginBelow = 0.005;
  model.setFilter(filter);
  EXPECT_EQ(idsOf(model), QStringList({"w2w", "late"}));
  auto picture = std::make_shared<render::Thumbnail>();
  picture->caption = "float32 [1, 8, 8], 0 to 1";
  model.setThumbnail(6, picture);
  EXPECT_TRUE(model.index(1).data(Qt::ToolTipRole).toString().endsWith(QStringLiteral("\ninput float32 [1, 8, 8], 0 to 1")));
  EXPECT_FALSE(model.index(0).data(GalleryModel::kThumbnailRole).isValid());
  model.setRun(nullptr);
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace ulpscope
