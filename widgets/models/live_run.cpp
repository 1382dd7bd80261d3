#include "widgets/models/live_run.h"

#include "widgets/models/text.h"

#include <numeric>

namespace ulpscope::models {

using session::Metric;

void LiveRun::begin(const protocol::LiveExperiment& experiment) {
  *this = LiveRun();
  m_session.model = experiment.model;
  m_session.samples.ids = experiment.sampleIds;
  m_isDone.assign(experiment.sampleIds.size(), false);
  for (const std::string& id : experiment.sampleIds) m_sampleIds << qt(id);
  m_columns.resize(experiment.sampleIds.size());
  std::iota(m_columns.begin(), m_columns.end(), 0);
}

void LiveRun::setSites(const std::vector<protocol::LiveSite>& sites) {
  m_run.sites.clear();
  for (const protocol::LiveSite& told : sites) {
    session::SiteSummary site;
    site.modulePath = told.modulePath;
    site.op = told.op;
    site.occurrence = told.occurrence;
    m_run.sites.push_back(std::move(site));
  }
  m_rows = render::moduleRows(m_session, m_run);
  m_rowOfSite.assign(sites.size(), -1);
  for (std::size_t row = 0; row < m_rows.size(); ++row)
    for (const std::int64_t site : m_rows[row].sites) m_rowOfSite[static_cast<std::size_t>(site)] = static_cast<std::int64_t>(row);
  m_data = render::HeatmapData(static_cast<std::int64_t>(m_rows.size()), static_cast<std::int64_t>(m_session.samples.ids.size()));
  m_isDone.assign(m_isDone.size(), false);
  m_samplesDone = 0;
}

void LiveRun::add(const protocol::CellBlock& block) {
  if (m_isDone.empty()) return;
  if (block.sites) setSites(*block.sites);
  if (m_rows.empty() || block.rows() == 0) return;
  const auto columns = static_cast<std::int64_t>(block.samples.size());
  storage::RunMetrics metrics;
  metrics[Metric::relL2] = {block.rows(), columns, block.relL2};
  metrics.flags = block.flags;
  std::vector<render::ModuleRow> siteRows;
  for (std::int64_t i = 0; i < block.rows(); ++i) siteRows.push_back({{}, {}, {i}});
  const render::HeatmapData told = render::moduleHeatmap(siteRows, metrics, Metric::relL2);
  for (std::int64_t i = 0; i < told.rows(); ++i) {
    const std::size_t site = static_cast<std::size_t>(block.firstSite + i);
    if (site >= m_rowOfSite.size() || m_rowOfSite[site] < 0) continue;
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t sample = block.samples[static_cast<std::size_t>(column)];
      if (sample < m_data.samples()) m_data.takeWorse(m_rowOfSite[site], sample, told.at(i, column));
    }
  }
  for (const std::int64_t sample : block.samples)
    if (sample < m_data.samples() && !m_isDone[static_cast<std::size_t>(sample)]) {
      m_isDone[static_cast<std::size_t>(sample)] = true;
      ++m_samplesDone;
    }
}

std::shared_ptr<const HeatmapContent> LiveRun::content() const {
  auto content = std::make_shared<HeatmapContent>();
  content->rows = m_rows;
  content->cells = std::make_shared<const render::HeatmapData>(m_data);
  content->columns = m_columns;
  content->sampleIds = m_sampleIds;
  content->metric = qt(session::label(Metric::relL2));
  return content;
}

}  // namespace ulpscope::models
