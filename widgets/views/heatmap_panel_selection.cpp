// What a cell of the heatmap is to the other views: selection, texts, clipboard, context menu.
#include "widgets/models/fp32_regions.h"
#include "widgets/models/text.h"
#include "widgets/plots/profile_plot.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/scan_actions.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QTableView>

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::qt;

constexpr std::int64_t kMostCopied = 1'000'000;  // cells: some 15 MB of text

QString siteText(const session::SiteSummary& site) { return qt(session::siteLabel(site)) + QStringLiteral(" · ") + qt(base::name(site.candidateDtype)); }

}  // namespace

void HeatmapPanel::makeActions() {
  const auto add = [this](QWidget* on, const QString& text, const QKeySequence& keys, void (HeatmapPanel::*run)()) {
    auto* action = new QAction(text, on);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, run);
    on->addAction(action);
    return action;
  };
  m_copyCell = add(m_heatmap, tr("Copy cell"), QKeySequence::Copy, &HeatmapPanel::copyCell);
  m_copyBlock = add(m_heatmap, tr("Copy visible block as TSV"), QKeySequence(tr("Ctrl+Shift+C")), &HeatmapPanel::copyVisibleBlock);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  add(m_table, tr("Copy selected cells as TSV"), QKeySequence::Copy, &HeatmapPanel::copyTableBlock);
  m_scanActions = new ScanActions(m_workbench, this);
  m_heatmap->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(m_heatmap, &QWidget::customContextMenuRequested, this, &HeatmapPanel::showMenu);
}

void HeatmapPanel::select(std::int64_t row, std::int64_t sample) {
  if (!m_content || row < 0 || row >= m_content->rowCount()) return;
  const render::ModuleRow& at = m_content->rows[static_cast<std::size_t>(row)];
  const models::RunPointer& run = m_workbench.shownRun();
  const bool isOpSite = at.isOpSite() && !showsLive();
  const QString path = isOpSite && run ? qt(run->run->sites[static_cast<std::size_t>(at.sites.front())].modulePath) : qt(at.path);
  const std::int64_t site = isOpSite ? at.sites.front() : run ? run->worstSite(path) : -1;
  m_chosenModule = isOpSite ? QString() : path;
  m_chosenSite = isOpSite ? -1 : site;
  m_workbench.selection().select(path, site, sample);
  refreshSelection();  // from an op site to its module's row nothing changes but that
}

std::int64_t HeatmapPanel::rowOfSelection() const {
  const models::Selection& selection = m_workbench.selection();
  if (!m_content || !selection.modulePath()) return -1;
  const std::string path = models::core(*selection.modulePath());
  if (showsLive()) {
    for (std::int64_t row = 0; row < m_content->rowCount(); ++row)
      if (m_content->rows[static_cast<std::size_t>(row)].path == path) return row;
    return -1;
  }
  const std::int64_t moduleRow = m_builder.rowOfModule(path);
  const bool isModuleChosen = m_chosenSite == selection.site() && m_chosenModule == *selection.modulePath();
  const std::int64_t siteRow = isModuleChosen ? -1 : m_builder.rowOfSite(selection.site());
  return siteRow >= 0 ? siteRow : moduleRow;
}

void HeatmapPanel::refreshSelection() {
  if (!m_content) return;
  if (m_content == m_builder.picture().content) {
    const models::Selection& selection = m_workbench.selection();
    m_builder.setOrderRow(models::core(selection.modulePath().value_or(QString())), selection.site());
    if (m_builder.isOrderOld()) return showRuns();
  }
  const std::int64_t row = rowOfSelection();
  m_heatmap->setRowHighlight(row);
  m_profile->setHighlight(row);
  const std::int64_t sample = m_workbench.selection().sample();
  std::int64_t column = -1;
  if (!showsLive())
    column = m_builder.columnOf(sample);
  else if (const auto at = std::find(m_content->columns.begin(), m_content->columns.end(), sample); at != m_content->columns.end())
    column = at - m_content->columns.begin();
  if (row < 0 || column < 0) return m_heatmap->setSelected(std::nullopt);
  m_heatmap->setSelected(render::CellIndex{row, column});
  const QModelIndex index = m_tableModel.index(static_cast<int>(row), static_cast<int>(column));
  if (m_table->currentIndex() != index) m_table->setCurrentIndex(index);
}

void HeatmapPanel::toggleFold(std::int64_t row) {
  if (showsLive() || !m_content || row < 0 || row >= m_content->rowCount()) return;
  const render::ModuleRow at = m_content->rows[static_cast<std::size_t>(row)];
  const bool isFoldable = at.isOpSite() || m_builder.picture().look.rowFolds[static_cast<std::size_t>(row)] != plots::RowFold::none;
  if (!isFoldable) return;
  m_builder.toggleFold(at.path);
  showRuns();
}

QStringList HeatmapPanel::factsOf(std::int64_t row, std::int64_t sample) const {
  const render::ModuleRow& at = m_content->rows[static_cast<std::size_t>(row)];
  const render::Cell cell = m_content->data().at(row, sample);
  const bool isDifference = !showsLive() && m_workbench.view() == RunView::difference;
  QStringList facts{models::rowTitle(at), tr("sample %1").arg(m_content->sampleId(sample))};
  const QString metric = isDifference ? tr("B − A of %1").arg(m_content->metric) : m_content->metric;
  const models::RunPointer& run = m_workbench.shownRun();
  const bool hasNone = cell.kind == render::CellKind::notRun && !showsLive() && run;
  facts << (hasNone ? tr("no %1").arg(metric) : metric + u' ' + qt(render::exactText(cell)));
  if (isDifference) facts << tr("A %1").arg(qt(render::exactText(m_builder.cellOfA(row, sample)))) << tr("B %1").arg(qt(render::exactText(m_builder.cellOfB(row, sample))));
  if (hasNone) facts << models::whyNoNumber(*run, at.sites, sample);
  if (cell.wholeBatch) facts << tr("of the whole batch: its sample axis was not found");
  return facts;
}

QString HeatmapPanel::textOf(std::int64_t row, std::int64_t sample) const { return factsOf(row, sample).join(QStringLiteral(" · ")); }

// Its index is known only where the run stored the values; they are read beside the window, and the tooltip is shown again.
QString HeatmapPanel::worstElementOf(const models::RunPointer& run, std::int64_t site, std::int64_t sample) {
  const models::NothingStored nothing = models::nothingStored(*run, site);
  if (!nothing.why.isEmpty()) return tr("worst element: not known. %1").arg(nothing.why);
  const bool byUlp = m_builder.metric() == render::Metric::maxUlp;
  const jobs::TensorRequest& of = m_worstElement.of;
  if (of.run != run || of.site != site || of.sample != sample || m_worstElement.byUlp != byUlp) {
    m_worstElement = {{m_workbench.sessionPath(), run, site, sample, {}}, byUlp, {}};
    m_elementLoader.load(m_worstElement.of);
  }
  return m_worstElement.line.isEmpty() ? tr("worst element: reading the stored values…") : m_worstElement.line;
}

void HeatmapPanel::tellWorstElement(const QString& line) {
  m_worstElement.line = line;
  m_elementLoader.cancel();  // the values can be large, and the line is all that is needed
  m_heatmap->refreshTooltip();
  emit worstElementRead();
}

QString HeatmapPanel::tooltipOf(std::int64_t row, std::int64_t sample) {
  QStringList facts = factsOf(row, sample);
  const models::RunPointer& run = m_workbench.shownRun();
  const render::ModuleRow& at = m_content->rows[static_cast<std::size_t>(row)];
  if (showsLive() || !run || !run->metrics) return facts.join(u'\n');
  const std::int64_t site = render::worstSiteOf(at, *run->metrics, m_builder.metric(), sample);
  if (site >= 0) {
    const session::SiteSummary& summary = run->run->sites[static_cast<std::size_t>(site)];
    facts << tr("%1: %2").arg(at.sites.size() > 1 ? tr("worst op site") : tr("op site"), siteText(summary));
    if (!summary.source.empty()) facts << qt(summary.source);
    facts << worstElementOf(run, site, sample);
  }
  return facts.join(u'\n');
}

void HeatmapPanel::copyCell() {
  const auto& cell = m_heatmap->selected();
  if (cell && m_content) QGuiApplication::clipboard()->setText(models::cellLine(*m_content, cell->row, cell->column));
}

void HeatmapPanel::copyVisibleBlock() { copy(m_heatmap->visibleBlock()); }

// The rectangle around what is selected in the table.
void HeatmapPanel::copyTableBlock() {
  const QItemSelection selection = m_table->selectionModel()->selection();
  if (selection.isEmpty()) return;
  models::CellBlock block{selection.front().top(), selection.front().bottom() + 1, selection.front().left(), selection.front().right() + 1};
  for (const QItemSelectionRange& range : selection)
    block = {std::min<std::int64_t>(block.firstRow, range.top()), std::max<std::int64_t>(block.lastRow, range.bottom() + 1),
             std::min<std::int64_t>(block.firstColumn, range.left()), std::max<std::int64_t>(block.lastColumn, range.right() + 1)};
  copy(block);
}

void HeatmapPanel::copy(const models::CellBlock& block) {
  if (!m_content) return;
  if (block.cellCount() > kMostCopied) {
    emit cellHovered(tr("%1 cells are too many to copy, %2 are the most: zoom in").arg(block.cellCount()).arg(kMostCopied));
    return;
  }
  QGuiApplication::clipboard()->setText(models::blockLines(*m_content, block));
  emit cellHovered(tr("Copied %1 rows of %2 samples").arg(block.lastRow - block.firstRow).arg(block.lastColumn - block.firstColumn));
}

void HeatmapPanel::showMenu(const QPoint& position) {
  if (const auto cell = m_heatmap->cellUnder(position)) select(cell->row, m_content->sampleAt(cell->column));
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fillMenu(*menu);
  menu->popup(m_heatmap->mapToGlobal(position));
}

void HeatmapPanel::fillMenu(QMenu& menu) {
  m_copyCell->setEnabled(m_heatmap->selected().has_value());
  menu.addActions({m_copyCell, m_copyBlock});
  const std::int64_t row = m_heatmap->cursorRow();
  if (row < 0 || showsLive()) return;
  const render::ModuleRow& at = m_content->rows[static_cast<std::size_t>(row)];
  menu.addSeparator();
  QAction* fold = menu.addAction(m_builder.isUnfolded(at.path) ? tr("Hide op sites (Enter)") : tr("Show op sites (Enter)"));
  fold->setEnabled(at.isOpSite() || m_builder.picture().look.rowFolds[static_cast<std::size_t>(row)] != plots::RowFold::none);
  connect(fold, &QAction::triggered, this, [this, row] { toggleFold(row); });
  const QString path = qt(at.path);
  for (const models::RegionKind kind : {models::RegionKind::inputsToFp32, models::RegionKind::inputsAsTheyAre}) {
    QAction* action = menu.addAction(models::regionAction(kind));
    action->setToolTip(models::regionMeaning(kind));
    action->setCheckable(true);
    action->setChecked(m_workbench.regions().names(path, kind));
    connect(action, &QAction::triggered, this, [this, path, kind] { m_workbench.toggle(path, kind); });
  }
  menu.addMenu(tr("Boundary"))->addActions(m_scanActions->all());
}

}  // namespace ulpscope::views
