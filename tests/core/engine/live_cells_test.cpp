// What a live view is told must be, cell by cell, what the run says in the end.
#include "core/engine/engine.h"
#include "fixture.h"

#include <gmock/gmock.h>

#include <bit>

namespace ulpscope::engine {
namespace {

using storage::RunMetrics;

// What a client makes of the blocks.
struct Told {
  int experiments = 0;
  std::vector<std::string> sampleIds;
  std::vector<protocol::LiveSite> sites;
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<float, int>> cells;

  void add(const protocol::CellBlock& block) {
    if (block.sites) {
      sites = *block.sites;
      cells.clear();
    }
    for (std::int64_t row = 0; row < block.rows(); ++row)
      for (std::size_t column = 0; column < block.samples.size(); ++column) {
        const std::size_t at = static_cast<std::size_t>(row) * block.samples.size() + column;
        cells[{block.firstSite + row, block.samples[column]}] = {block.relL2[at], block.flags[at]};
      }
  }
};

void expectSame(const Told& told, const RunOutcome& outcome) {
  ASSERT_EQ(told.sites.size(), outcome.run.sites.size());
  for (std::size_t i = 0; i < told.sites.size(); ++i) {
    const session::SiteSummary& site = outcome.run.sites[i];
    EXPECT_EQ(told.sites[i], (protocol::LiveSite{site.modulePath, site.op, site.occurrence}));
  }
  std::size_t measured = 0;
  const std::int64_t samples = outcome.metrics.samples();
  for (std::int64_t site = 0; site < outcome.metrics.sites(); ++site)
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const int flags = outcome.metrics.flags[static_cast<std::size_t>(site * samples + sample)];
      const auto at = told.cells.find({site, sample});
      if (at == told.cells.end()) {
        EXPECT_TRUE(flags & storage::kCellNotRun) << site << " " << sample;
        continue;
      }
      ++measured;
      EXPECT_EQ(at->second.second, flags);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(at->second.first), std::bit_cast<std::uint32_t>(outcome.metrics[session::Metric::relL2].at(site, sample)));
    }
  EXPECT_GT(measured, 0U);
}

class Live : public testing::TestWithParam<std::pair<std::string, int>> {};
INSTANTIATE_TEST_SUITE_P(Models, Live, testing::Values(std::pair("ffn_wo_overflow", 1), std::pair("ffn_wo_overflow", 32), std::pair("encoder_trace", 2), std::pair("lockstep/TripCount", 1)));

TEST_P(Live, CellsAreThoseOfTheFinishedRun) {
  session::RunRequest request = tests::requestFor(GetParam().first);
  request.settings.batchSize = GetParam().second;
  Told told;
  RunHooks hooks;
  hooks.experiment = [&](const protocol::LiveExperiment& e) {
    ++told.experiments;
    told.sampleIds = e.sampleIds;
    EXPECT_TRUE(told.cells.empty());
  };
  hooks.cells = [&](const protocol::CellBlock& block) { told.add(block); };
  Engine engine;
  const auto outcome = engine.run(request, hooks, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  EXPECT_EQ(told.experiments, 1);
  EXPECT_EQ(told.sampleIds, outcome->samples.ids);
  expectSame(told, outcome.value());
}

TEST(LiveCells, OfSomeSamplesStandAtTheirPlacesAmongAll) {
  session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  Engine engine;
  const auto all = engine.open(request);
  ASSERT_TRUE(all.ok()) << all.error().message();
  ASSERT_GE(all->sampleIds.size(), 3U);
  request.settings.onlySamples = {all->sampleIds[2], all->sampleIds[0]};
  request.settings.batchSize = 1;
  Told told;
  RunHooks hooks;
  hooks.cells = [&](const protocol::CellBlock& block) { told.add(block); };
  const auto outcome = engine.run(request, hooks, {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message();
  expectSame(told, outcome.value());
}

TEST(Open, SaysWhatARunWouldWorkOn) {
  Engine engine;
  const session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  const auto opened = engine.open(request);
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  ASSERT_FALSE(opened->inputs.empty());
  EXPECT_EQ(opened->inputs.front().dtype, "float32");
  EXPECT_EQ(static_cast<std::size_t>(opened->inputs.front().shape.at(0)), opened->sampleIds.size());
  EXPECT_EQ(opened->inputs.front().sampleAxis, 0);
  session::RunRequest modelOnly = request;
  modelOnly.inputsPath.clear();
  const auto model = engine.open(modelOnly);
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->inputs.empty());
  EXPECT_EQ(model->model.modules.size(), opened->model.modules.size());
}

TEST(Open, RefusesWhatARunWouldRefuse) {
  Engine engine;
  session::RunRequest request = tests::requestFor("ffn_wo_overflow");
  request.inputsPath = tests::modelPath("ffn_wo_overflow") + ".none";
  const auto opened = engine.open(request);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, base::ErrorKind::input);
}

}  // namespace
}  // namespace ulpscope::engine
