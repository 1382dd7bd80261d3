#include "widgets/views/heatmap_builder.h"

#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::views {
namespace {

using models::qt;

constexpr double kSlack = 1e-4;  // of a range's ends: rounding is not "beyond"

plots::RowMark markOf(session::NonfiniteRole role) {
  if (role == session::NonfiniteRole::origin) return plots::RowMark::origin;
  return role == session::NonfiniteRole::consequence ? plots::RowMark::consequence : plots::RowMark::none;
}

}  // namespace

bool HeatmapBuilder::refresh(Map& map, const models::RunPointer& run, const HeatmapChoice& choice) const {
  const bool outputs = choice.moduleOutputs && run && !run->outputRows.empty();
  const bool isSame = map.run == run && map.metric == choice.metric && map.moduleOutputs == outputs && map.unfolded == m_unfolded;
  if (isSame && map.cells) return false;
  map = {run, choice.metric, outputs, m_unfolded, {}, std::make_shared<const render::HeatmapData>(), {}};
  if (!run || !run->metrics) return true;
  map.rows = render::unfoldedRows(outputs ? run->outputRows : run->rows, *run->run, m_unfolded);
  map.cells = std::make_shared<const render::HeatmapData>(render::moduleHeatmap(map.rows, *run->metrics, choice.metric));
  map.magnitudes = render::magnitudesOf(*map.cells);
  return true;
}

const HeatmapPicture& HeatmapBuilder::build(const Workbench& workbench, const HeatmapChoice& choice) {
  const bool isOtherA = refresh(m_a, workbench.runA(), choice);
  const bool isOther = refresh(m_b, workbench.runB(), choice) || isOtherA || !m_picture.content;
  const RunView view = workbench.view();
  if (isOther) m_difference.reset();
  if (view == RunView::difference && !m_difference) {
    m_difference = std::make_shared<const render::HeatmapData>(render::differenceHeatmap(m_a.rows, *m_a.cells, m_b.rows, *m_b.cells));
    m_differenceMagnitudes = render::magnitudesOf(*m_difference);
  }
  const bool isOtherOrder = m_order != choice.order || (choice.order == render::SampleOrder::byRowError && m_orderedBy != orderRow());
  if (isOther || view != m_view || isOtherOrder) {
    m_view = view;
    m_order = choice.order;
    makeContent(workbench, choice, view == RunView::difference ? m_difference : view == RunView::a ? m_a.cells : m_b.cells);
  }
  makeRange(workbench, choice);
  return m_picture;
}

void HeatmapBuilder::makeContent(const Workbench& workbench, const HeatmapChoice& choice, std::shared_ptr<const render::HeatmapData> cells) {
  const models::RunPointer& run = workbench.shownRun();
  auto content = std::make_shared<models::HeatmapContent>();
  content->rows = m_view == RunView::a ? m_a.rows : m_b.rows;
  const bool areSameCells = m_picture.content && m_picture.content->cells == cells;
  content->cells = std::move(cells);
  for (const std::string& id : run->session->samples.ids) content->sampleIds << qt(id);
  content->metric = qt(session::label(choice.metric));
  m_picture.isDifference = m_view == RunView::difference;
  m_picture.content = content;
  if (!areSameCells) {
    m_picture.rowMaxima = render::rowMaxima(*content->cells);
    makeIndex();
    makeMarks(*run);
  }
  m_orderedBy = orderRow();
  makeColumns(*content, workbench, choice.order);
}

void HeatmapBuilder::makeColumns(models::HeatmapContent& content, const Workbench& workbench, render::SampleOrder order) {
  const models::RunPointer& run = workbench.runB();
  render::SampleColumns columns = render::sampleColumns({*run->session, *run->run, *content.cells, m_orderedBy}, order);
  m_columnOf.assign(columns.columns.size(), -1);
  for (std::size_t i = 0; i < columns.columns.size(); ++i) m_columnOf[static_cast<std::size_t>(columns.columns[i])] = static_cast<std::int64_t>(i);
  content.columns = std::move(columns.columns);
  content.groups = std::move(columns.groups);
}

void HeatmapBuilder::makeIndex() {
  m_rowOfModule.clear();
  m_rowOfSite.clear();
  const std::vector<render::ModuleRow>& rows = m_picture.content->rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].isOpSite())
      m_rowOfSite.try_emplace(rows[i].sites.front(), static_cast<std::int64_t>(i));
    else
      m_rowOfModule.try_emplace(rows[i].path, static_cast<std::int64_t>(i));
  }
  m_rowInA = m_picture.isDifference ? render::sameRows(rows, m_a.rows) : std::vector<std::int64_t>();
}

// A module's mark is that of its worst op site, whatever its row is made of.
void HeatmapBuilder::makeMarks(const models::LoadedRun& run) {
  std::unordered_map<std::string, plots::RowMark> worstOf;
  std::unordered_map<std::string, int> countOf;
  for (const session::SiteSummary& site : run.run->sites) {
    plots::RowMark& mark = worstOf[site.modulePath];
    mark = std::max(mark, markOf(site.role));
    ++countOf[site.modulePath];
  }
  m_picture.look.rowMarks.clear();
  m_picture.look.rowFolds.clear();
  for (const render::ModuleRow& row : m_picture.content->rows) {
    plots::RowMark mark = row.isOpSite() ? plots::RowMark::none : worstOf[row.path];
    for (const std::int64_t site : row.sites) mark = std::max(mark, markOf(run.run->sites[static_cast<std::size_t>(site)].role));
    m_picture.look.rowMarks.push_back(mark);
    const bool unfolds = !row.isOpSite() && (row.sites.size() > 1 || countOf[row.path] > 1 ||
                                             (countOf[row.path] == 1 && run.run->sites[static_cast<std::size_t>(row.sites.front())].modulePath != row.path));
    m_picture.look.rowFolds.push_back(!unfolds ? plots::RowFold::none : isUnfolded(row.path) ? plots::RowFold::unfolded : plots::RowFold::folded);
  }
}

void HeatmapBuilder::makeRange(const Workbench& workbench, const HeatmapChoice& choice) {
  const bool hasA = workbench.runA() && workbench.runA()->metrics;
  render::ColorRange range = render::automaticRange(m_b.magnitudes, choice.scale);
  if (hasA) range = m_b.magnitudes.largest > 0 ? render::commonRange(range, render::automaticRange(m_a.magnitudes, choice.scale)) : render::automaticRange(m_a.magnitudes, choice.scale);
  // Only relative L2 has one number for the whole map; max abs error is measured by atol + rtol |a|.
  const double tolerance = choice.metric == render::Metric::relL2 ? workbench.shownRun()->tolerance() : 0;
  if (m_picture.isDifference && range.scale == render::Scale::logarithmic)
    // The linear part of a difference ends at the tolerance; without one, three decades below the largest value.
    range.low = std::min(tolerance > 0 ? tolerance : range.high * 1e-3, range.high / 10);
  const render::Magnitudes& shown = m_picture.isDifference ? m_differenceMagnitudes : m_view == RunView::a ? m_a.magnitudes : m_b.magnitudes;
  const bool isBeyond = shown.hasInfinite || shown.largest > range.high * (1 + kSlack);
  m_picture.valuesAbove = isBeyond;
  m_picture.valuesBelow = m_picture.isDifference ? isBeyond : range.scale == render::Scale::logarithmic && shown.largest > 0 && shown.smallest < range.low * (1 - kSlack);
  m_picture.tolerance = m_picture.isDifference ? 0 : tolerance;
  m_picture.look.range = range;
  m_picture.look.map = m_picture.isDifference ? render::ColorMap::vik : choice.colors;
  m_picture.look.order = qt(render::description(m_order));
}

render::Cell HeatmapBuilder::cellOfA(std::int64_t row, std::int64_t sample) const {
  const std::int64_t at = static_cast<std::size_t>(row) < m_rowInA.size() ? m_rowInA[static_cast<std::size_t>(row)] : -1;
  return at < 0 || sample >= m_a.cells->samples() ? render::Cell() : m_a.cells->at(at, sample);
}

render::Cell HeatmapBuilder::cellOfB(std::int64_t row, std::int64_t sample) const { return m_b.cells->at(row, sample); }

std::int64_t HeatmapBuilder::rowOfModule(const std::string& path) const {
  const auto at = m_rowOfModule.find(path);
  return at == m_rowOfModule.end() ? -1 : at->second;
}

std::int64_t HeatmapBuilder::rowOfSite(std::int64_t site) const {
  const auto at = m_rowOfSite.find(site);
  return at == m_rowOfSite.end() ? -1 : at->second;
}

std::int64_t HeatmapBuilder::columnOf(std::int64_t sample) const {
  return sample < 0 || static_cast<std::size_t>(sample) >= m_columnOf.size() ? -1 : m_columnOf[static_cast<std::size_t>(sample)];
}

bool HeatmapBuilder::isUnfolded(const std::string& path) const { return std::binary_search(m_unfolded.begin(), m_unfolded.end(), path); }

void HeatmapBuilder::toggleFold(const std::string& path) {
  const auto at = std::lower_bound(m_unfolded.begin(), m_unfolded.end(), path);
  if (at != m_unfolded.end() && *at == path)
    m_unfolded.erase(at);
  else
    m_unfolded.insert(at, path);
}

void HeatmapBuilder::setOrderRow(const std::string& path, std::int64_t site) {
  m_orderPath = path;
  m_orderSite = site;
}

std::int64_t HeatmapBuilder::orderRow() const {
  const std::int64_t row = rowOfSite(m_orderSite);
  return row >= 0 ? row : rowOfModule(m_orderPath);
}

}  // namespace ulpscope::views
