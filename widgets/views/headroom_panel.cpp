#include "widgets/views/headroom_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/number_order.h"
#include "widgets/models/text.h"
#include "widgets/plots/headroom_plot.h"
#include "widgets/views/tables.h"

#include <QLabel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::qt;
using models::RowTableModel;
using render::HeadroomState;

constexpr int kMostSiteWidth = 170;  // px: the numbers are what this table is for

QString summaryOf(const session::RunRecord& run, const std::vector<render::HeadroomSite>& sites) {
  if (run.settings.observe == session::Observe::outputs) return HeadroomPanel::tr("This run looked at outputs only; run it with --observe stats or full to see the ranges of its ops.");
  if (sites.empty()) return HeadroomPanel::tr("No op site has floating-point values: there is no range to show.");
  const auto count = [&](HeadroomState state) { return std::count_if(sites.begin(), sites.end(), [state](const auto& s) { return s.state == state; }); };
  QStringList parts{qt(base::counted(static_cast<std::int64_t>(sites.size()), "op site"))};
  for (const HeadroomState state : {HeadroomState::overflow, HeadroomState::beyond, HeadroomState::tight})
    if (count(state) > 0) parts << QStringLiteral("%1: %2").arg(qt(render::label(state)), qt(base::groupedInteger(count(state))));
  if (parts.size() == 1) parts << HeadroomPanel::tr("all with 1 bit of headroom or more");
  return parts.join(QStringLiteral("  ·  "));
}

}  // namespace

HeadroomPanel::HeadroomPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_order = new models::NumberOrder(this);
  m_order->setSourceModel(&m_model);
  m_table = makeTable(this, m_order, tr("Headroom of op sites"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(-1, Qt::AscendingOrder);  // execution order, as in the plot
  m_plot = new plots::HeadroomPlot(this);
  m_summary = new QLabel(this);
  m_summary->setWordWrap(true);
  auto* splitter = new QSplitter(this);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(m_plot);
  splitter->addWidget(m_table);
  splitter->setSizes({460, 540});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->setSpacing(4);
  layout->addWidget(m_summary);
  layout->addWidget(splitter, 1);

  connect(&m_workbench, &Workbench::viewChanged, this, &HeadroomPanel::refreshRun);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &HeadroomPanel::refreshSelection);
  connect(m_plot, &plots::HeadroomPlot::siteClicked, this, &HeadroomPanel::selectSite);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (!m_isRefreshing && current.isValid()) selectSite(current.data(RowTableModel::kKeyRole).toLongLong());
  });
}

QString HeadroomPanel::summary() const { return m_summary->text(); }

void HeadroomPanel::selectSite(std::int64_t site) {
  const models::RunPointer& run = m_workbench.shownRun();
  if (run) m_workbench.selection().select(qt(run->run->sites[static_cast<std::size_t>(site)].modulePath), site, -1);
}

void HeadroomPanel::refreshRun() {
  m_isRefreshing = true;
  const models::RunPointer& run = m_workbench.shownRun();
  const models::RunPointer& other = run == m_workbench.runB() ? m_workbench.runA() : m_workbench.runB();
  plots::HeadroomPlot::Content content;
  if (run) {
    content.run = run;
    content.sites = render::headroomSites(*run->run);
    if (other) {
      content.otherMaxima = render::candidateMaxima(*run->run, content.sites, *other->run);
      content.otherName = other->shortName();
    }
  }
  m_summary->setText(run ? summaryOf(*run->run, content.sites) : QString());
  m_alarming = static_cast<int>(std::count_if(content.sites.begin(), content.sites.end(), [](const auto& s) { return s.state == HeadroomState::overflow || s.state == HeadroomState::beyond || s.state == HeadroomState::tight; }));
  m_model.setRun(run, content.sites);
  m_plot->setContent(std::move(content));
  fitColumns(m_table);
  m_table->setColumnWidth(models::HeadroomModel::kSite, std::min(m_table->columnWidth(models::HeadroomModel::kSite), kMostSiteWidth));
  m_isRefreshing = false;
  refreshSelection();
}

void HeadroomPanel::refreshSelection() {
  m_isRefreshing = true;
  const std::int64_t site = m_workbench.selection().site();
  m_plot->setSelectedSite(site);
  const int row = m_model.rowOfKey(static_cast<qlonglong>(site));
  if (row >= 0)
    m_table->setCurrentIndex(m_order->mapFromSource(m_model.index(row, 0)));
  else
    m_table->selectionModel()->clear();
  m_isRefreshing = false;
}

}  // namespace ulpscope::views
