#include "widgets/views/heatmap_panel.h"

#include "widgets/models/text.h"
#include "widgets/plots/color_bar.h"
#include "widgets/plots/profile_plot.h"
#include "widgets/views/heatmap_controls.h"
#include "widgets/views/legend_widget.h"
#include "widgets/views/stale_band.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::qt;

enum Page { kMapPage, kTablePage, kMessagePage };
constexpr int kLiveIntervalMs = 250;

}  // namespace

HeatmapPanel::HeatmapPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  setAutoFillBackground(true);
  m_controls = new HeatmapControls(this);
  m_stale = new StaleBand(workbench, this);
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
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_stale);
  layout->addWidget(m_controls);
  layout->addWidget(makeHeading());
  layout->addWidget(m_stack, 1);
  m_liveTimer.setSingleShot(true);
  m_liveTimer.setInterval(kLiveIntervalMs);
  makeActions();
  connectViews();
}

QWidget* HeatmapPanel::makeHeading() {
  auto* line = new QWidget(this);
  m_heading = new QLabel(line);
  m_heading->setTextFormat(Qt::PlainText);
  m_heading->setMinimumWidth(60);
  m_liveBox = new QCheckBox(tr("Live"), line);
  m_liveBox->setChecked(true);
  m_liveBox->setToolTip(tr("Show the run that goes on; without, the results before it"));
  m_liveBox->setAccessibleName(tr("Show the run that goes on"));
  m_liveBox->hide();
  m_legend = new LegendWidget(line);
  auto* layout = new QHBoxLayout(line);
  layout->setContentsMargins(10, 0, 10, 4);
  layout->addWidget(m_liveBox);
  layout->addWidget(m_heading, 1);
  layout->addWidget(m_legend);
  return line;
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
  connect(&m_elementLoader, &jobs::TensorLoader::loaded, this, [this](const models::TensorPicturePointer& picture) {
    tellWorstElement(models::worstElementLine(*picture->look, m_worstElement.byUlp ? analysis::WorstBy::ulp : analysis::WorstBy::difference));
  });
  connect(&m_elementLoader, &jobs::TensorLoader::failed, this, [this](const base::Error& error) { tellWorstElement(tr("worst element: not known. %1").arg(qt(error.message()))); });
  connect(m_controls, &HeatmapControls::changed, this, &HeatmapPanel::refresh);
  connect(m_controls, &HeatmapControls::fitClicked, m_heatmap, &plots::HeatmapView::showAll);
  connect(m_liveBox, &QCheckBox::toggled, this, &HeatmapPanel::refresh);
  connect(&m_liveTimer, &QTimer::timeout, this, &HeatmapPanel::showLiveNow);
  connect(&m_workbench, &Workbench::viewChanged, this, &HeatmapPanel::refresh);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &HeatmapPanel::refreshSelection);
  connect(m_heatmap, &plots::HeatmapView::cellHovered, this, &HeatmapPanel::cellHovered);
  connect(m_heatmap, &plots::HeatmapView::viewportChanged, this, &HeatmapPanel::alignSides);
  connect(m_heatmap, &plots::HeatmapView::cellSelected, this, &HeatmapPanel::select);
  connect(m_heatmap, &plots::HeatmapView::foldToggled, this, &HeatmapPanel::toggleFold);
  connect(m_heatmap, &plots::HeatmapView::rowSelected, this, [this](std::int64_t row) { select(row, -1); });
  connect(m_profile, &plots::ProfilePlot::rowClicked, this, [this](std::int64_t row) { select(row, -1); });
  connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& index) { select(index.row(), m_content->sampleAt(index.column())); });
  m_heatmap->setTextOf([this](std::int64_t row, std::int64_t sample) { return textOf(row, sample); });
  m_heatmap->setTooltipOf([this](std::int64_t row, std::int64_t sample) { return tooltipOf(row, sample); });
}

void HeatmapPanel::refreshIcons() { m_controls->refreshIcons(); }

QString HeatmapPanel::heading() const {
  const models::RunPointer& a = m_workbench.runA();
  const models::RunPointer& b = m_workbench.runB();
  if (showsLive()) return m_heading->text();
  if (!b) return {};
  switch (m_workbench.view()) {
    case RunView::a: return tr("A · %1").arg(a->label());
    case RunView::b: return a ? tr("B · %1").arg(b->label()) : b->label();
    case RunView::difference: return tr("B − A of %1: %2 − %3").arg(qt(session::label(m_controls->choice().metric)), b->shortName(), a->shortName());
  }
  return {};
}

void HeatmapPanel::refresh() {
  const QString id = m_workbench.session() ? qt(m_workbench.session()->id) : QString();
  if (id != m_sessionId) m_builder.foldAll();
  const bool isOtherSession = id != m_sessionId;
  m_sessionId = id;
  {
    const QSignalBlocker blocker(m_controls);
    m_controls->refresh(m_workbench);
  }
  if (showsLive()) return showLiveNow();
  const models::RunPointer& run = m_workbench.shownRun();
  m_heading->setText(heading());
  m_legend->setIsDifference(m_workbench.view() == RunView::difference);
  const bool hasTrainings = m_workbench.session() && !m_workbench.session()->trainings.empty();
  if (!run) return showMessage(m_workbench.isTraining() ? tr("A training goes on: see the tab Training below.") : hasTrainings ? tr("This session has trainings but no runs yet: see the tab Training below. New run… (Ctrl+N) compares op by op.") : tr("This session has no runs yet."));
  const models::RunPointer& a = m_workbench.runA();
  const bool needsA = m_workbench.view() == RunView::difference;
  if (!run->metrics || (needsA && !a->metrics)) return showMessage(tr("The heatmap cannot be shown: %1").arg(!run->metrics ? run->metricsError : a->metricsError));
  showRuns();
  if (isOtherSession) m_heatmap->showAll();
}

void HeatmapPanel::showMessage(const QString& message) {
  m_message->setText(message);
  m_stack->setCurrentIndex(kMessagePage);
}

void HeatmapPanel::showRuns() {
  const models::Selection& selection = m_workbench.selection();
  m_builder.setOrderRow(models::core(selection.modulePath().value_or(QString())), selection.site());
  const HeatmapPicture& picture = m_builder.build(m_workbench, m_controls->choice());
  m_range = picture.look.range;
  const QString title = picture.isDifference ? tr("B − A of %1").arg(picture.content->metric) : picture.content->metric;
  m_profile->setContent({picture.rowMaxima, m_range, picture.isDifference, picture.tolerance});
  m_colorBar->setContent({m_range, picture.look.map, title, picture.tolerance, picture.valuesBelow, picture.valuesAbove});
  showContent(picture.content, picture.look);
}

// Only other content is pooled again; other colours are painted.
void HeatmapPanel::showContent(const std::shared_ptr<const models::HeatmapContent>& content, const plots::HeatmapLook& look) {
  if (m_content == content) {
    m_heatmap->setLook(look);
  } else {
    m_content = content;
    m_tableModel.setContent(content);
    m_heatmap->setContent(content, look);
  }
  alignSides();
  m_stack->setCurrentIndex(m_controls->showsTable() ? kTablePage : kMapPage);
  refreshSelection();
}

bool HeatmapPanel::showsLive() const { return m_live && m_liveBox->isChecked(); }

void HeatmapPanel::showLive(std::shared_ptr<const models::HeatmapContent> content, LiveState state) {
  const bool isFirst = !m_live;
  m_liveState = state;
  m_live = std::move(content);
  m_liveBox->show();
  if (isFirst) {
    m_liveRange.reset();
    showLiveNow();
  } else if (!m_liveTimer.isActive()) {
    m_liveTimer.start();
  }
}

void HeatmapPanel::endLive() {
  m_liveTimer.stop();
  m_live.reset();
  m_liveBox->hide();
  refresh();
}

void HeatmapPanel::showLiveNow() {
  if (!showsLive()) return;
  const HeatmapChoice choice = m_controls->choice();
  const render::Magnitudes magnitudes = render::magnitudesOf(*m_live->cells);
  const render::ColorRange now = render::automaticRange(magnitudes, choice.scale);
  const bool isContinued = m_liveRange && m_liveRange->scale == choice.scale;
  // It grows only, so that a colour keeps its meaning.
  if (magnitudes.largest > 0) m_liveRange = isContinued ? render::commonRange(now, *m_liveRange) : now;
  m_range = m_liveRange.value_or(now);
  const std::vector<render::Cell> samples = render::sampleMaxima(*m_live->cells);
  const auto measured = std::count_if(samples.begin(), samples.end(), [](const render::Cell& cell) { return cell.kind != render::CellKind::notRun; });
  m_heading->setText((m_liveState == LiveState::running ? tr("running · %1 · %2 of %3 samples so far") : tr("cancelled, not saved · %1 · %2 of %3 samples")).arg(m_live->metric).arg(measured).arg(samples.size()));
  m_controls->setLive();
  m_legend->setIsDifference(false);
  m_profile->setContent({render::rowMaxima(*m_live->cells), m_range, false, 0});
  m_colorBar->setContent({m_range, choice.colors, m_live->metric, 0, false, false});
  showContent(m_live, {m_range, choice.colors, {}, {}, tr("as given")});
}

void HeatmapPanel::alignSides() {
  const render::Viewport& view = m_heatmap->viewport();
  const QRect plot = m_heatmap->plotRect();
  m_profile->setRows(view.firstRow, view.lastRow, plot.top(), plot.bottom() + 1);
  m_colorBar->setSpan(plot.top(), plot.bottom() + 1);
}

}  // namespace ulpscope::views
