#include "widgets/views/flips_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/margin_plot.h"
#include "widgets/views/tables.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace ulpscope::views {

using models::qt;
using models::RowTableModel;

FlipsPanel::FlipsPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_order = new QSortFilterProxyModel(this);
  m_order->setSourceModel(&m_decisions);
  m_order->setSortRole(models::kSortRole);
  m_table = makeTable(this, m_order, tr("Flips"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(4, Qt::AscendingOrder);
  m_showAll = new QToolButton(this);
  m_showAll->setText(tr("All samples"));
  m_showAll->setCheckable(true);
  m_showAll->setToolTip(tr("Also the samples whose decision did not change: the numbers of the margin plot"));
  m_showAll->setAccessibleName(tr("Show all samples"));
  m_summary = new QLabel(this);
  m_marginPlot = new plots::MarginPlot(this);
  auto* left = new QWidget(this);
  auto* top = new QHBoxLayout;
  top->addWidget(m_summary, 1);
  top->addWidget(m_showAll);
  auto* leftLayout = new QVBoxLayout(left);
  leftLayout->setContentsMargins(0, 0, 0, 0);
  leftLayout->setSpacing(4);
  leftLayout->addLayout(top);
  leftLayout->addWidget(m_table, 1);
  auto* splitter = new QSplitter(this);
  splitter->addWidget(left);
  splitter->addWidget(m_marginPlot);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->addWidget(splitter);

  connect(&m_workbench, &Workbench::viewChanged, this, &FlipsPanel::refreshRun);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &FlipsPanel::refreshSelection);
  connect(m_showAll, &QToolButton::toggled, this, [this](bool all) {
    m_decisions.setShow(all ? models::DecisionsModel::Show::all : models::DecisionsModel::Show::flips);
    refreshSelection();
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FlipsPanel::selectRow);
  connect(m_marginPlot, &plots::MarginPlot::sampleClicked, &m_workbench.selection(), &models::Selection::selectSample);
}

void FlipsPanel::selectRow(const QModelIndex& current) {
  const models::RunPointer& run = m_workbench.shownRun();
  if (m_isRefreshing || !current.isValid() || !run) return;
  const std::int64_t sample = current.data(RowTableModel::kKeyRole).toLongLong();
  for (const session::Flip& flip : run->run->flips)
    if (flip.sample == sample && flip.firstSiteOverTolerance >= 0) {
      const auto& site = run->run->sites[static_cast<std::size_t>(flip.firstSiteOverTolerance)];
      return m_workbench.selection().select(qt(site.modulePath), flip.firstSiteOverTolerance, sample);
    }
  m_workbench.selection().selectSample(sample);
}

void FlipsPanel::refreshRun() {
  m_isRefreshing = true;
  const models::RunPointer& run = m_workbench.shownRun();
  m_decisions.setRun(run);
  m_marginPlot->setRun(run ? run->run : nullptr);
  const std::size_t flips = run ? run->run->flips.size() : 0;
  const bool decides = run && run->run->settings.decision.decides();
  const std::size_t decisions = run ? run->run->decisions.size() : 0;
  QString summary = !decides ? tr("This run reads no decisions (run with --decision argmax).") : tr("%1 of %2 flipped").arg(qt(base::groupedInteger(static_cast<std::int64_t>(flips))), qt(base::counted(static_cast<std::int64_t>(decisions), "decision")));
  if (decides && !run->run->noDecision.empty()) summary += tr(", %1 without a decision (NaN scores)").arg(run->run->noDecision.size());
  m_summary->setText(summary);
  m_showAll->setEnabled(decides);
  fitColumns(m_table);
  m_isRefreshing = false;
  refreshSelection();
}

void FlipsPanel::refreshSelection() {
  m_isRefreshing = true;
  const std::int64_t sample = m_workbench.selection().sample();
  m_marginPlot->setSelectedSample(sample);
  const int row = m_decisions.rowOfKey(static_cast<qlonglong>(sample));
  if (row >= 0)
    m_table->setCurrentIndex(m_order->mapFromSource(m_decisions.index(row, 0)));
  else
    m_table->selectionModel()->clear();
  m_isRefreshing = false;
}

}  // namespace ulpscope::views
