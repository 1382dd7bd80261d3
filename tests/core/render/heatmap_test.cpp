#include "core/render/heatmap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ulpscope::render {
namespace {

constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();

Cell value(float v) { return {v == 0 ? CellKind::exactZero : CellKind::value, false, v}; }
Cell special(CellKind kind) { return {kind, false, 0}; }

session::SiteSummary site(const std::string& path) {
  session::SiteSummary s;
  s.modulePath = path;
  s.op = "aten::linear";
  return s;
}

// Three sites of two modules on two samples.
struct Fixture {
  session::Session session;
  session::RunRecord run;
  storage::RunMetrics metrics;
  Fixture() {
    session.model.modules = {{"", "Net", {}, 0}, {"block", "Block", {"same_block"}, 0}};
    run.sites = {site("block"), site(""), site("block")};
    metrics[Metric::relL2] = {3, 2, {1e-3F, 2e-3F, 0.F, 1e-4F, 5e-3F, kNanF}};
    metrics[Metric::maxAbs] = {3, 2, {1, 2, 0, 3, 4, kNanF}};
    metrics.flags = {0, 0, 0, 0, 0, storage::kCellNan};
  }
};

TEST(ModuleRows, AreOneAModuleInExecutionOrder) {
  const Fixture f;
  const std::vector<ModuleRow> rows = moduleRows(f.session, f.run);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].path, "block");
  EXPECT_EQ(rows[0].typeName, "Block");
  EXPECT_EQ(rows[0].sites, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(rows[1].typeName, "Net");
}

TEST(OutputRows, AreOneAModuleWithTheSitesThatMadeItsOutputs) {
  Fixture f;
  f.run.moduleOutputs = {{"block", 1, "output", 0, false}, {"block", 2, "output", 2, false}, {"", 1, "output", 2, true}};
  const std::vector<ModuleRow> rows = outputRows(f.session, f.run);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].path, "block");
  EXPECT_EQ(rows[0].sites, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(rows[1].typeName, "Net");
  EXPECT_EQ(rows[1].sites, (std::vector<std::int64_t>{2}));
}

TEST(ModuleHeatmap, OfAMetricThatWasNotComputedIsNotRunEverywhere) {
  const Fixture f;
  const HeatmapData data = moduleHeatmap(moduleRows(f.session, f.run), f.metrics, Metric::introducedRelL2);
  EXPECT_EQ(data.samples(), 2);
  for (const PackedCell cell : data.cells()) EXPECT_EQ(cell, kPackedNotRun);
}

TEST(ModuleHeatmap, TakesTheWorstOfAModulesSites) {
  const Fixture f;
  const HeatmapData data = moduleHeatmap(moduleRows(f.session, f.run), f.metrics, Metric::relL2);
  EXPECT_FLOAT_EQ(data.at(0, 0).value, 5e-3F);
  EXPECT_EQ(data.at(0, 1).kind, CellKind::nan);
  EXPECT_EQ(data.at(1, 0).kind, CellKind::exactZero);
  EXPECT_FLOAT_EQ(moduleHeatmap(moduleRows(f.session, f.run), f.metrics, Metric::maxAbs).at(0, 0).value, 4);
}

TEST(ModuleHeatmap, ShowsANanThatNobodyFlaggedAsNotRun) {
  Fixture f;
  f.metrics.flags.assign(6, 0);
  f.metrics[Metric::relL2].values = {kNanF, kNanF, kNanF, kNanF, kNanF, kNanF};
  const HeatmapData data = moduleHeatmap(moduleRows(f.session, f.run), f.metrics, Metric::relL2);
  for (const PackedCell cell : data.cells()) EXPECT_EQ(cell, kPackedNotRun);
}

TEST(Worse, RanksNanOverInfinityOverValuesOverZeroOverNotRun) {
  const Cell rising[] = {special(CellKind::notRun), value(0), value(1e-6F), value(10), special(CellKind::minusInf),
                         special(CellKind::plusInf), special(CellKind::nan)};
  for (std::size_t i = 0; i < std::size(rising); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      EXPECT_EQ(worse(rising[i], rising[j]).kind, rising[i].kind);
      EXPECT_EQ(worse(rising[j], rising[i]).value, rising[i].value);
    }
}

TEST(Difference, KeepsWhatIsNonfiniteInBAndNamesWhatWasCured) {
  const std::vector<ModuleRow> rowsA{{"x", "", {}}}, rowsB{{"x", "", {}}, {"new", "", {}}};
  const HeatmapData a{1, 4, {value(0.5F), special(CellKind::nan), value(1), value(2)}};
  const HeatmapData b{2, 4, {value(0.25F), value(1), special(CellKind::plusInf), value(2), value(1), value(1), value(1), value(1)}};
  const HeatmapData d = differenceHeatmap(rowsA, a, rowsB, b);
  EXPECT_FLOAT_EQ(d.at(0, 0).value, -0.25F);
  EXPECT_EQ(d.at(0, 1).kind, CellKind::cured);
  EXPECT_EQ(d.at(0, 2).kind, CellKind::plusInf);
  EXPECT_EQ(d.at(0, 3).kind, CellKind::exactZero);
  EXPECT_EQ(d.at(1, 0).kind, CellKind::notRun);
}

TEST(UnfoldedRows, PutAModulesOpSitesBelowIt) {
  Fixture f;
  f.run.sites[2].occurrence = 2;
  const std::vector<ModuleRow> rows = unfoldedRows(moduleRows(f.session, f.run), f.run, {"block"});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_FALSE(rows[0].isOpSite());
  EXPECT_EQ(rows[1].opSite, "aten::linear");
  EXPECT_EQ(rows[2].opSite, "aten::linear#2");
  EXPECT_EQ(rows[2].path, "block");
  EXPECT_EQ(rows[2].sites, std::vector<std::int64_t>{2});
  EXPECT_EQ(rows[3].path, "");
  const HeatmapData data = moduleHeatmap(rows, f.metrics, Metric::relL2);
  EXPECT_FLOAT_EQ(data.at(1, 0).value, 1e-3F);
  EXPECT_FLOAT_EQ(data.at(2, 0).value, 5e-3F);
  EXPECT_EQ(data.at(2, 1).kind, CellKind::nan);
}

TEST(UnfoldedRows, TellSitesOfOneOpApartByTheirSource) {
  Fixture f;
  f.run.sites[0].source = "model.py:3";
  f.run.sites[2].source = "model.py:9";
  const std::vector<ModuleRow> rows = unfoldedRows(moduleRows(f.session, f.run), f.run, {"block"});
  EXPECT_EQ(rows[1].opSite, "aten::linear (model.py:3)");
  EXPECT_EQ(rows[2].opSite, "aten::linear (model.py:9)");
}

TEST(UnfoldedRows, LeaveARowOfOneOpSiteAlone) {
  const Fixture f;
  EXPECT_EQ(unfoldedRows(moduleRows(f.session, f.run), f.run, {""}).size(), 2U);
}

// A container returned what a module inside made: its row unfolds into that site and its own.
TEST(UnfoldedRows, OfAModulesOutputNameTheModuleThatMadeIt) {
  Fixture f;
  f.run.moduleOutputs = {{"", 1, "output", 2, false}};
  const std::vector<ModuleRow> rows = unfoldedRows(outputRows(f.session, f.run), f.run, {""});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].opSite, "aten::linear");
  EXPECT_EQ(rows[2].opSite, "block: aten::linear");
}

TEST(WorstSite, IsTheOneWhoseCellARowShows) {
  const Fixture f;
  const std::vector<ModuleRow> rows = moduleRows(f.session, f.run);
  EXPECT_EQ(worstSiteOf(rows[0], f.metrics, Metric::relL2, 0), 2);  // 5e-3 over 1e-3
  EXPECT_EQ(worstSiteOf(rows[0], f.metrics, Metric::relL2, 1), 2);  // NaN
  EXPECT_EQ(worstSiteOf(rows[1], f.metrics, Metric::relL2, 1), 1);
  EXPECT_EQ(worstSiteOf(rows[0], f.metrics, Metric::introducedRelL2, 0), -1);
  Fixture equal;
  equal.metrics[Metric::relL2].values[0] = 5e-3F;
  EXPECT_EQ(worstSiteOf(rows[0], equal.metrics, Metric::relL2, 0), 0) << "the first of equals";
}

TEST(Difference, MatchesUnfoldedOpSitesByName) {
  const std::vector<ModuleRow> rowsA{{"x", "", {}}, {"x", "", {}, "aten::add"}, {"x", "", {}, "aten::mul"}}, rowsB{{"x", "", {}}, {"x", "", {}, "aten::mul"}};
  EXPECT_EQ(sameRows(rowsB, rowsA), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(sameRows(rowsA, rowsB), (std::vector<std::int64_t>{0, -1, 1}));
}

TEST(AutomaticRange, OfALinearScaleEndsAtARoundNumber) {
  const auto high = [](float most) { return automaticRange(HeatmapData(1, 2, {value(1e-5F), value(most)}), Scale::linear).high; };
  EXPECT_NEAR(high(0.0132F), 0.02, 1e-12);
  EXPECT_NEAR(high(0.002F), 0.002, 1e-12);
  EXPECT_NEAR(high(7), 10, 1e-12);
  EXPECT_EQ(automaticRange(HeatmapData(1, 1, {special(CellKind::nan)}), Scale::linear).high, 1e-1);
}

TEST(AutomaticRange, CoversTheDecadesOfFiniteValuesOnly) {
  const HeatmapData data{1, 4, {value(3e-5F), value(2e-2F), value(INFINITY), special(CellKind::nan)}};
  EXPECT_NEAR(automaticRange(data).low, 1e-5, 1e-12);
  EXPECT_NEAR(automaticRange(data).high, 1e-1, 1e-9);
  EXPECT_EQ(automaticRange(HeatmapData(1, 1, {special(CellKind::nan)})).low, 1e-6);
}

TEST(CellText, GivesAFloatBackInItsExactForm) {
  EXPECT_EQ(exactText(value(0.1F)), "0.100000001");  // printf("%.9g", 0.1f)
  EXPECT_EQ(exactText(special(CellKind::nan)), "NaN");
}

TEST(CellText, UsesOneSetOfWords) {
  EXPECT_EQ(cellText(value(0)), "0 (exact)");
  EXPECT_EQ(cellText(special(CellKind::minusInf)), "-inf");
  EXPECT_EQ(cellText(special(CellKind::notRun)), "no number");
  EXPECT_EQ(cellText(value(0.0132F)), "0.0132");
}

}  // namespace
}  // namespace ulpscope::render
