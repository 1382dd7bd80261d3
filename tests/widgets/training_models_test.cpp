// A training's tables, lines and ticks.
#include "sample_training.h"
#include "widgets/models/drop_plan.h"
#include "widgets/models/training_models.h"
#include "widgets/models/training_summary.h"
#include "widgets/plots/training_ticks.h"

#include <QAbstractItemModelTester>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

using models::LedgerModel;
using testing::cells;
using testing::recipeRun;
using testing::sampleTraining;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(LedgerTable, AccountsForEveryStep) {
  LedgerModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setLedger(recipeRun().ledger);
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(cells(model, 0).join(QStringLiteral(" | ")).toStdString(),
            "0 | sgd | ▼ skipped | inf in the gradient, block.fc2 | 0.75 | 65,536 | 32,768 | +inf | 12.5 % | +inf | yes | 0.1 | 0");
  EXPECT_EQ(cells(model, 1).join(QStringLiteral(" | ")).toStdString(), "1 | sgd | not stepped | – | NaN | 32,768 | 32,768 | 2.5 | 12.5 % | 1 | no | 0.1 | 1");
  EXPECT_EQ(model.lineText(0).toStdString(), "Step 0, sgd: skipped. aten::linear in block.fc2 (model.py:12): inf in the gradient of its output; first parameter block.fc2.weight");
  EXPECT_EQ(model.lineText(1), QStringLiteral("Step 1, sgd: not stepped"));
  EXPECT_TRUE(model.isRedundant(LedgerModel::kOptimizer)) << "there is one";
  EXPECT_TRUE(model.isRedundant(LedgerModel::kFoundInf)) << "as skipped";
  EXPECT_FALSE(model.isRedundant(LedgerModel::kClippedNorm)) << "2.5 was clipped to 1";
  EXPECT_EQ(model.index(0, 0).data(LedgerModel::kModuleRole).toString(), QStringLiteral("block.fc2"));
  EXPECT_FALSE(model.index(1, 0).data(LedgerModel::kModuleRole).isValid());
  EXPECT_EQ(model.rowOfStep(2), 2);
  EXPECT_EQ(model.rowOfStep(3), -1);
  model.setLedger({});
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(TrajectoryTable, PutsAutocastAndScalingSideBySide) {
  models::TrajectoriesModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.setTraining(std::make_shared<const session::Training>(sampleTraining()));
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_EQ(cells(model, 0).mid(0, 10).join(QStringLiteral(" | ")).toStdString(), "recipe | on | on | head | 1 | 2 | 0.5 | 32,768 | 87.5 % | 1");
  EXPECT_EQ(cells(model, 1).join(QStringLiteral(" | ")).toStdString(), "fp32 | off | off | none | 0 | 3 | 0.25 | 1 | – | 0 | – | no");
}

TEST(TrainingFindings, ListAlarmsOrderAndCriteria) {
  models::TrainingFindingsModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const auto training = std::make_shared<const session::Training>(sampleTraining());
  model.setRun(training, 0);
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(cells(model, 0).join(QStringLiteral(" | ")).toStdString(), "1 | alarm | forward_nonfinite |  | the loss is not finite");
  EXPECT_EQ(cells(model, 1).join(QStringLiteral(" | ")).toStdString(), "2 | order | clip_before_unscale | clip of sgd | unscale first");
  EXPECT_TRUE(model.hasPlaces());
  EXPECT_EQ(model.index(1, 0).data(Qt::AccessibleDescriptionRole).toString(), QStringLiteral("step 2, order clip_before_unscale: unscale first (clip of sgd)")) << "whole in every column";
  EXPECT_EQ(model.index(2, 4).data(Qt::ToolTipRole).toString(), QStringLiteral("<p>criterion alarms: fail: measured 1, limit 0</p>"));
  EXPECT_EQ(cells(model, 2).join(QStringLiteral(" | ")).toStdString(), "– | criterion | alarms |  | fail: measured 1, limit 0");
  model.setRun(training, 1);
  EXPECT_EQ(model.rowCount(), 1) << "FP32 has no alarm; the verdict is the training's";
  model.setRun(nullptr, 0);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(ScaleText, GroupsWhatCanBeRead) {
  EXPECT_EQ(models::scaleText(65536), QStringLiteral("65,536"));
  EXPECT_EQ(models::scaleText(0.5), QStringLiteral("0.5"));
  EXPECT_EQ(models::scaleText(std::ldexp(1.0, 32)), QStringLiteral("4,294,967,296")) << "as 536,870,912 below it";
  EXPECT_EQ(models::scaleText(std::ldexp(1.0, 127)), QStringLiteral("1.70e+38"));
  EXPECT_EQ(models::scaleText(kInf), QStringLiteral("+inf"));
}

TEST(AlarmsText, PutsTheWorstFirst) {
  session::Trajectory run;
  EXPECT_EQ(models::alarmsText(run), QString());
  run.alarms = {{"skips_in_a_row", 4, "sgd skipped 5 steps in a row"}, {"gradients_flushed_to_zero", 0, "89 % of the gradients are zero"}, {"unknown", 2, "something"}};
  EXPECT_EQ(models::alarmsText(run), QStringLiteral("3 alarms, the worst: 89 % of the gradients are zero (step 0)"));
  run.alarms.erase(run.alarms.begin() + 1);
  EXPECT_EQ(models::alarmsText(run), QStringLiteral("2 alarms, the worst: something (step 2)"));
}

QStringList tickTexts(const std::vector<double>& values, render::AxisScale scale, int most, int base) {
  QStringList texts;
  for (const plots::AxisTick& tick : plots::axisTicks(render::valueAxis(values, scale), most, base)) texts << tick.text;
  return texts;
}

TEST(TrainingTicks, AreTwoAtLeastAndDiffer) {
  using render::AxisScale;
  EXPECT_GE(tickTexts({2.0, 3.0}, AxisScale::logarithmic, 2, 10).size(), 2) << "no power of ten lies between them";
  EXPECT_GE(tickTexts({std::ldexp(1.0, 18), std::ldexp(1.0, 32)}, AxisScale::logarithmic, 2, 2).size(), 2) << "14 octaves in a low chart";
  EXPECT_EQ(tickTexts({0.5, 50.0}, AxisScale::logarithmic, 4, 10).join(u' '), QStringLiteral("10⁰ 10¹ 10²"));
  const QStringList flat = tickTexts({2.2931, 2.2939}, AxisScale::linear, 5, 10);
  EXPECT_GE(flat.size(), 2);
  EXPECT_EQ(QStringList(flat).removeDuplicates(), 0) << flat.join(u' ').toStdString();
  EXPECT_FALSE(tickTexts({}, AxisScale::linear, 3, 10).isEmpty()) << "an axis without values is one from 0 to 1";
}

TEST(DropPlan, TakesARecipe) {
  const auto plan = models::dropPlan({QStringLiteral("/d/recipe.json")});
  EXPECT_EQ(plan.recipe, QStringLiteral("/d/recipe.json"));
  EXPECT_EQ(plan.text(), QStringLiteral("recipe.json: training recipe"));
  const auto both = models::dropPlan({QStringLiteral("/d/demo.json"), QStringLiteral("/d/model.ts")});
  EXPECT_TRUE(both.recipe.isEmpty()) << "a folder of a model may have any JSON";
  EXPECT_EQ(both.unused, QStringList{QStringLiteral("/d/demo.json")});
}

}  // namespace
}  // namespace ulpscope
