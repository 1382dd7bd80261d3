#include "widgets/views/heatmap_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/color_bar.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/profile_plot.h"
#include "widgets/plots/theme.h"
#include "widgets/views/legend_widget.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <cmath>

namespace ulpscope::views {
namespace {

using models::qt;

enum Page { kMapPage, kTablePage, kMessagePage };

bool hasDecisions(const models::RunPointer& run) { return run && !run->run->decisions.empty(); }

QComboBox* makeCombo(QWidget* parent, const QString& name, const QStringList& items) {
  auto* combo = new QComboBox(parent);
  combo->addItems(items);
  combo->setAccessibleName(name);
  combo->setToolTip(name);
  return combo;
}

// Of the worst of the sites: none, a consequence, an origin.
plots::RowMark markOf(const models::LoadedRun& run, const std::vector<std::int64_t>& sites) {
  plots::RowMark mark = plots::RowMark::none;
  for (const std::int64_t site : sites) {
    const session::NonfiniteRole role = run.run->sites[static_cast<std::size_t>(site)].role;
    if (role == session::NonfiniteRole::origin) mark = plots::RowMark::origin;
    if (role == session::NonfiniteRole::consequence && mark == plots::RowMark::none) mark = plots::RowMark::consequence;
  }
  return mark;
}

}  // namespace

HeatmapPanel::HeatmapPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  setAutoFillBackground(true);
  m_heading = new QLabel(this);
  m_heading->setTextFormat(Qt::PlainText);
  m_heading->setMinimumWidth(60);
  m_legend = new LegendWidget(this);
  m_table = new QTableView(this);
  m_table->setModel(&m_tableModel);
  m_table->setAccessibleName(tr("Heatmap as a table"));
  m_table->verticalHeader()->setDefaultSectionSize(m_table->fontMetrics().height() + 14);
  m_message = new QLabel(this);
  m_message->setAlignment(Qt::AlignCenter);
  m_message->setWordWrap(true);
  m_stack = new QStackedWidget(this);
  m_stack->addWidget(makeMap());
  m_stack->addWidget(m_table);
  m_stack->addWidget(m_message);
  auto* headingRow = new QHBoxLayout;
  headingRow->setContentsMargins(10, 0, 10, 4);
  headingRow->addWidget(m_heading, 1);
  headingRow->addWidget(m_legend);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(makeBar());
  layout->addLayout(headingRow);
  layout->addWidget(m_stack, 1);
  connectViews();
}

QWidget* HeatmapPanel::makeBar() {
  auto* bar = new QWidget(this);
  QStringList metrics;
  for (const render::Metric metric : render::heatmapMetrics()) metrics << qt(session::label(metric));
  m_metric = makeCombo(bar, tr("Metric"), metrics);
  m_rows = makeCombo(bar, tr("Rows"), {tr("worst op site"), tr("module outputs")});
  m_order = makeCombo(bar, tr("Order of samples"), {tr("as given"), tr("FP32 margin")});
  m_colors = makeCombo(bar, tr("Colours"), {qt(render::label(render::ColorMap::viridis)), qt(render::label(render::ColorMap::cividis))});
  m_fit = new QToolButton(bar);
  m_fit->setToolTip(tr("Show all modules and samples (Ctrl+0)"));
  m_fit->setAccessibleName(tr("Show all"));
  m_showTable = new QToolButton(bar);
  m_showTable->setCheckable(true);
  m_showTable->setText(tr("Table"));
  m_showTable->setToolTip(tr("The same values as a table"));
  m_showTable->setAccessibleName(tr("Show as table"));
  m_showTable->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(10, 6, 8, 6);
  layout->setSpacing(6);
  for (const auto& [text, combo] : {std::pair{tr("Metric"), m_metric}, std::pair{tr("Rows"), m_rows}, std::pair{tr("Samples by"), m_order}, std::pair{tr("Colours"), m_colors}}) {
    layout->addWidget(new QLabel(text, bar));
    layout->addWidget(combo);
    layout->addSpacing(8);
  }
  layout->addStretch(1);
  layout->addWidget(m_fit);
  layout->addWidget(m_showTable);
  return bar;
}

QWidget* HeatmapPanel::makeMap() {
  auto* page = new QWidget(this);
  m_heatmap = new plots::HeatmapView(page);
  m_profile = new plots::ProfilePlot(page);
  m_colorBar = new plots::ColorBar(page);
  auto* layout = new QHBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_heatmap, 1);
  layout->addWidget(m_profile);
  layout->addWidget(m_colorBar);
  return page;
}

void HeatmapPanel::connectViews() {
  for (QComboBox* combo : {m_metric, m_rows, m_order, m_colors})
    connect(combo, &QComboBox::currentIndexChanged, this, &HeatmapPanel::refresh);
  connect(m_fit, &QToolButton::clicked, m_heatmap, &plots::HeatmapView::showAll);
  connect(m_showTable, &QToolButton::toggled, this, &HeatmapPanel::refresh);
  connect(&m_workbench, &Workbench::viewChanged, this, &HeatmapPanel::refresh);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &HeatmapPanel::refreshSelection);
  connect(m_heatmap, &plots::HeatmapView::cellHovered, this, &HeatmapPanel::cellHovered);
  connect(m_heatmap, &plots::HeatmapView::viewportChanged, this, &HeatmapPanel::alignSides);
  m_heatmap->setTextOf([this](std::int64_t row, std::int64_t sample) { return textOf(row, sample); });
  const auto select = [this](std::int64_t row, std::int64_t sample) {
    if (!m_content || !m_workbench.shownRun() || row < 0 || row >= static_cast<std::int64_t>(m_content->rows.size())) return;
    const QString path = qt(m_content->rows[static_cast<std::size_t>(row)].path);
    m_workbench.selection().select(path, m_workbench.shownRun()->worstSite(path), sample);
  };
  connect(m_heatmap, &plots::HeatmapView::cellSelected, this, select);
  connect(m_profile, &plots::ProfilePlot::rowClicked, this, [select](std::int64_t row) { select(row, -1); });
  connect(m_table, &QTableView::clicked, this, [this, select](const QModelIndex& index) {
    select(index.row(), m_content->columns[static_cast<std::size_t>(index.column())]);
  });
}

void HeatmapPanel::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_showTable->setIcon(plots::themedIcon(QStringLiteral("table"), theme.text, theme.muted));
  m_fit->setIcon(plots::themedIcon(QStringLiteral("fit"), theme.text, theme.muted));
}

render::Metric HeatmapPanel::metric() const { return render::heatmapMetrics()[static_cast<std::size_t>(std::max(0, m_metric->currentIndex()))]; }

const std::vector<render::ModuleRow>& HeatmapPanel::rowsOf(const models::LoadedRun& run) const {
  return m_rows->isEnabled() && m_rows->currentIndex() == 1 ? run.outputRows : run.rows;
}

render::ColorMap HeatmapPanel::colorMap() const {
  if (m_workbench.view() == RunView::difference) return render::ColorMap::vik;
  return m_colors->currentIndex() == 0 ? render::ColorMap::viridis : render::ColorMap::cividis;
}

// Only relative L2 has one number for the whole map; max abs error is measured by atol + rtol |a|.
double HeatmapPanel::tolerance() const {
  if (metric() != render::Metric::relL2 || !m_workbench.runB() || m_workbench.view() == RunView::difference) return 0;
  return m_workbench.shownRun()->tolerance();
}

QString HeatmapPanel::heading() const {
  const models::RunPointer& a = m_workbench.runA();
  const models::RunPointer& b = m_workbench.runB();
  if (!b) return {};
  const QString name = qt(session::label(metric()));
  switch (m_workbench.view()) {
    case RunView::a: return tr("A · %1").arg(a->label());
    case RunView::b: return a ? tr("B · %1").arg(b->label()) : b->label();
    case RunView::difference: return tr("B − A of %1: %2 − %3").arg(name, b->shortName(), a->shortName());
  }
  return {};
}

void HeatmapPanel::refreshRange() {
  const models::RunPointer& a = m_workbench.runA();
  const models::RunPointer& b = m_workbench.runB();
  m_dataA = a && a->metrics ? render::moduleHeatmap(rowsOf(*a), *a->metrics, metric()) : render::HeatmapData();
  m_dataB = b && b->metrics ? render::moduleHeatmap(rowsOf(*b), *b->metrics, metric()) : render::HeatmapData();
  m_rowsOther = a ? rowsOf(*a) : std::vector<render::ModuleRow>();
  m_range = render::automaticRange(m_dataB);
  if (a && a->metrics) m_range = render::commonRange(m_range, render::automaticRange(m_dataA));
  if (m_workbench.view() != RunView::difference) return;
  // The linear part of a difference ends at the tolerance; without one, three decades below the largest value.
  const double linear = metric() == render::Metric::relL2 ? b->tolerance() : m_range.high * 1e-3;
  m_range.low = std::min(linear, m_range.high / 10);
}

void HeatmapPanel::refresh() {
  const models::RunPointer& run = m_workbench.shownRun();
  m_order->setEnabled(hasDecisions(m_workbench.runB()));
  m_order->setToolTip(m_order->isEnabled() ? tr("Order of samples") : tr("Order by margin needs a run with decisions (--decision argmax)"));
  m_rows->setEnabled(run && !run->outputRows.empty());
  m_rows->setToolTip(m_rows->isEnabled() ? tr("Rows: a module's worst op site, or what it returned") : tr("This run recorded no module outputs"));
  m_colors->setEnabled(m_workbench.view() != RunView::difference);
  m_heading->setText(heading());
  m_legend->setIsDifference(m_workbench.view() == RunView::difference);
  if (!run) {
    m_message->setText(tr("This session has no runs yet."));
    m_stack->setCurrentIndex(kMessagePage);
    return;
  }
  const models::RunPointer& a = m_workbench.runA();
  const bool needsA = m_workbench.view() == RunView::difference;
  if (!run->metrics || (needsA && !a->metrics)) {
    m_message->setText(tr("The heatmap cannot be shown: %1").arg(!run->metrics ? run->metricsError : a->metricsError));
    m_stack->setCurrentIndex(kMessagePage);
    return;
  }
  refreshRange();
  showContent(run);
  m_stack->setCurrentIndex(m_showTable->isChecked() ? kTablePage : kMapPage);
  refreshSelection();
}

void HeatmapPanel::showContent(const models::RunPointer& run) {
  const bool isDifference = m_workbench.view() == RunView::difference;
  auto content = std::make_shared<models::HeatmapContent>();
  content->rows = rowsOf(*run);
  content->data = isDifference ? render::differenceHeatmap(m_rowsOther, m_dataA, content->rows, m_dataB) : m_workbench.view() == RunView::a ? m_dataA : m_dataB;
  const bool byMargin = m_order->isEnabled() && m_order->currentIndex() == 1;
  content->columns = render::sampleColumns(*m_workbench.runB()->run, content->data.samples, byMargin ? render::SampleOrder::byReferenceMargin : render::SampleOrder::asGiven);
  for (const std::string& id : run->session->samples.ids) content->sampleIds << qt(id);
  content->metric = qt(session::label(metric()));
  m_content = content;
  m_tableModel.setContent(content);

  plots::HeatmapLook look{m_range, colorMap(), {}, byMargin ? tr("by FP32 margin, smallest first") : tr("as given")};
  for (const render::ModuleRow& row : content->rows) look.rowMarks.push_back(std::max(markOf(*run, row.sites), markOf(*run, run->sitesOf(qt(row.path)))));
  m_heatmap->setContent(content, look);
  m_profile->setContent({render::rowMaxima(content->data), m_range, isDifference, tolerance()});
  bool below = false, above = false;
  for (const render::Cell& cell : content->data.cells) {
    if (cell.kind != render::CellKind::value) continue;
    above = above || std::fabs(cell.value) > m_range.high * 1.0001;
    below = below || (isDifference ? cell.value < -m_range.high * 1.0001 : cell.value < m_range.low * 0.9999);
  }
  const QString title = isDifference ? tr("B − A of %1").arg(content->metric) : content->metric;
  m_colorBar->setContent({m_range, colorMap(), title, tolerance(), below, above});
  alignSides();
}

void HeatmapPanel::alignSides() {
  const render::Viewport& view = m_heatmap->viewport();
  const QRect plot = m_heatmap->plotRect();
  m_profile->setRows(view.firstRow, view.lastRow, plot.top(), plot.bottom() + 1);
  m_colorBar->setSpan(plot.top(), plot.bottom() + 1);
}

std::int64_t HeatmapPanel::rowOf(const QString& path) const {
  if (!m_content) return -1;
  const std::string wanted = models::core(path);
  for (std::size_t i = 0; i < m_content->rows.size(); ++i)
    if (m_content->rows[i].path == wanted) return static_cast<std::int64_t>(i);
  return -1;
}

void HeatmapPanel::refreshSelection() {
  const models::Selection& selection = m_workbench.selection();
  const std::int64_t row = selection.modulePath() ? rowOf(*selection.modulePath()) : -1;
  m_heatmap->setRowHighlight(row);
  m_profile->setHighlight(row);
  std::int64_t column = -1;
  if (m_content)
    for (std::size_t i = 0; i < m_content->columns.size(); ++i)
      if (m_content->columns[i] == selection.sample()) column = static_cast<std::int64_t>(i);
  if (row < 0 || column < 0) return m_heatmap->setSelected(std::nullopt);
  m_heatmap->setSelected(render::CellIndex{row, column});
  m_table->setCurrentIndex(m_tableModel.index(static_cast<int>(row), static_cast<int>(column)));
}

QString HeatmapPanel::textOf(std::int64_t row, std::int64_t sample) const {
  const render::ModuleRow& module = m_content->rows[static_cast<std::size_t>(row)];
  const auto exact = [](const render::Cell& cell) { return cell.kind == render::CellKind::value ? qt(base::exactNumber(cell.value)) : qt(render::cellText(cell)); };
  const render::Cell& cell = m_content->data.at(row, sample);
  QString text = models::modulePathText(qt(module.path));
  if (!module.typeName.empty()) text += QStringLiteral(" · ") + qt(module.typeName);
  text += QStringLiteral(" · ") + tr("sample %1").arg(m_content->sampleIds.value(sample, QString::number(sample)));
  const bool isDifference = m_workbench.view() == RunView::difference;
  text += QStringLiteral(" · ") + (isDifference ? tr("B − A of %1").arg(m_content->metric) : m_content->metric) + u' ' + exact(cell);
  if (cell.wholeBatch) text += tr(" (of the whole batch: its sample axis was not found)");
  if (isDifference) {
    for (std::size_t i = 0; i < m_rowsOther.size(); ++i)
      if (m_rowsOther[i].path == module.path)
        text += tr(" · A %1 · B %2").arg(exact(m_dataA.at(static_cast<std::int64_t>(i), sample)), exact(m_dataB.at(row, sample)));
  }
  return text;
}

}  // namespace ulpscope::views
