#include "widgets/views/boundary_panel.h"

#include "core/report/scan_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/boundary_plot.h"
#include "widgets/plots/near_plot.h"
#include "widgets/plots/plane_plot.h"
#include "widgets/plots/plot_legend.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/scan_controls.h"
#include "widgets/views/scan_point_view.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QClipboard>
#include <QComboBox>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ulpscope::views {
namespace {

constexpr int kBoxLetters = 18;
constexpr double kZoomStep = 2;

QToolButton* makeTool(const QString& text, const QString& tip, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  return button;
}

QString emptyWords() {
  return BoundaryPanel::tr("No scan yet. Where do FP32 and AMP put the boundary between two decisions, and how wide is the strip in which they disagree?\n\n"
                           "1.  Choose two samples that are decided differently: type their ids above, or right-click them in flips, gallery or heatmap.\n"
                           "2.  Press Scan. Both runs are evaluated on the way from one to the other; what was found is stored in the session.\n"
                           "3.  Keep a module in FP32 (Ctrl+K) and scan again: the second scan lies over the first.");
}

}  // namespace

BoundaryPanel::BoundaryPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_controls = new ScanControls(workbench, this);
  makeBoxes();
  m_headline = makeLine(this);
  m_conditions = makeLine(this);
  m_warnings = makeLine(this);
  QFont bold = m_headline->font();
  bold.setBold(true);
  m_headline->setFont(bold);
  m_empty = makeLine(this);
  m_empty->setText(emptyWords());
  m_empty->setMargin(12);
  m_empty->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_results = makeResults();
  m_stack = new QStackedWidget(this);
  m_stack->addWidget(m_empty);
  m_stack->addWidget(m_results);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->setSpacing(4);
  layout->addWidget(m_controls);
  layout->addWidget(m_stack, 1);
  connectViews();
  connectTables();
  connectPlots();
  refreshColors();
  refreshSession();
}

void BoundaryPanel::makeBoxes() {
  m_scans = makeTitleBox(tr("Scan shown"), kBoxLetters, this);
  m_overlays = makeTitleBox(tr("Scan that lies over it"), kBoxLetters, this);
  m_copy = makeTool(tr("Copy"), tr("Copy what the scan found as text, as `ulpscope scan` prints it"), this);
}

void BoundaryPanel::makePlots() {
  m_segment = new plots::BoundaryPlot(this);
  m_plane = new plots::PlanePlot(this);
  m_near = new plots::NearPlot(this);
  m_legend = new plots::PlotLegend(this);
  m_plots = new QStackedWidget(this);
  for (QWidget* plot : std::initializer_list<QWidget*>{m_segment, m_plane, m_near}) m_plots->addWidget(plot);
  m_zoomOut = makeTool(QStringLiteral("−"), tr("Zoom out (−)"), this);
  m_zoomIn = makeTool(QStringLiteral("+"), tr("Zoom in (+, or the wheel over the plot)"), this);
  m_whole = makeTool(tr("Whole segment"), tr("Show all of the segment (0)"), this);
  m_nextStrip = makeTool(tr("Next strip"), tr("Zoom to the next strip in which the runs disagree"), this);
  m_tools = new QWidget(this);
  auto* flow = new FlowLayout(m_tools);
  flow->setContentsMargins(0, 0, 0, 0);
  for (QToolButton* button : {m_nextStrip, m_whole, m_zoomOut, m_zoomIn}) flow->addWidget(button);
}

void BoundaryPanel::makeTables() {
  m_pages = new QTabWidget(this);
  m_pages->setDocumentMode(true);
  m_pages->setAccessibleName(tr("Tables of the scan"));
  m_pages->tabBar()->setAccessibleName(tr("Tables of the scan"));
  m_pointView = new ScanPointView(m_pages);
  m_eventTable = makeTable(m_pages, &m_events, tr("What happens along the segment"));
  m_eventTable->setAccessibleDescription(tr("Enter zooms the plot to it"));
  m_pointTable = makeTable(m_pages, &m_points, tr("Points of the scan"));
  m_sampleOrder = new models::NumberOrder(this);
  m_sampleOrder->setSourceModel(&m_samples);
  m_setOrder = new models::NumberOrder(this);
  m_setOrder->setSourceModel(&m_set);
  m_sampleTable = makeTable(m_pages, m_sampleOrder, tr("Samples by their distance from the boundary"));
  m_setTable = makeTable(m_pages, m_setOrder, tr("The set by margin"));
  for (QTableView* table : {m_sampleTable, m_setTable}) {
    table->setSortingEnabled(true);
    table->sortByColumn(-1, Qt::AscendingOrder);
  }
  for (const auto& [page, title] : {std::pair<QWidget*, QString>{m_pointView, tr("Point")}, {m_eventTable, tr("Strips")}, {m_pointTable, tr("Points")}, {m_sampleTable, tr("Samples")}, {m_setTable, tr("Set")}}) m_pages->addTab(page, title);
}

QWidget* BoundaryPanel::makePlotSide() {
  auto* side = new QWidget(this);
  auto* layout = new QVBoxLayout(side);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(m_tools);
  layout->addWidget(m_plots, 1);
  layout->addWidget(m_legend);
  return side;
}

QWidget* BoundaryPanel::makeResults() {
  makePlots();
  makeTables();
  auto* results = new QWidget(this);
  auto* boxes = new QHBoxLayout;
  boxes->addWidget(m_scans, 3);
  boxes->addWidget(m_overlays, 2);
  boxes->addWidget(m_copy);
  m_splitter = new QSplitter(results);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(makePlotSide());
  m_splitter->addWidget(m_pages);
  m_splitter->setSizes({470, 530});
  auto* layout = new QVBoxLayout(results);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(3);
  layout->addLayout(boxes);
  for (QLabel* line : {m_headline, m_conditions, m_warnings}) layout->addWidget(line);
  layout->addWidget(m_splitter, 1);
  return results;
}

void BoundaryPanel::connectViews() {
  for (const auto signal : {&Workbench::sessionChanged, &Workbench::runsChanged, &Workbench::viewChanged}) connect(&m_workbench, signal, this, &BoundaryPanel::refreshSession);
  connect(&m_workbench, &Workbench::scanned, this, [this](int number) { m_wanted = number; });
  connect(m_scans, &QComboBox::currentIndexChanged, this, &BoundaryPanel::load);
  connect(m_overlays, &QComboBox::currentIndexChanged, this, &BoundaryPanel::loadOverlay);
  connect(&m_loader, &jobs::ScanLoader::loaded, this, &BoundaryPanel::onLoaded);
  connect(&m_overlayLoader, &jobs::ScanLoader::loaded, this, &BoundaryPanel::onOverlay);
  connect(&m_loader, &jobs::ScanLoader::failed, this, [this](const base::Error& error) { setWarning(tr("This scan cannot be shown: %1").arg(models::qt(error.message()))); });
  connect(&m_overlayLoader, &jobs::ScanLoader::failed, this, [this](const base::Error& error) { setWarning(tr("The overlay cannot be shown: %1").arg(models::qt(error.message()))); });
  connect(m_pointView, &ScanPointView::addRequested, this, &BoundaryPanel::addRequested);
}

void BoundaryPanel::connectTables() {
  connect(m_pointTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (!m_isSelecting && current.isValid()) selectPoint(current.row());
  });
  const auto goToEvent = [this](const QModelIndex& index) {
    if (!index.isValid() || !m_scan || !m_scan->scan.segment) return;
    const auto at = [&](int role) { return static_cast<float>(index.data(role).toDouble()); };
    m_segment->showStretch({at(models::ScanEventsModel::kFromRole), at(models::ScanEventsModel::kToRole)});
    selectPoint(static_cast<int>(render::nearestPoint(m_scan->points, index.data(models::RowTableModel::kKeyRole).toDouble())));
  };
  connect(m_eventTable, &QTableView::activated, this, goToEvent);
  connect(m_eventTable, &QTableView::clicked, this, goToEvent);
  for (const QTableView* table : {m_sampleTable, m_setTable})
    connect(table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this, table](const QModelIndex& current) {
      if (!m_isSelecting && current.isValid()) showSample(current.siblingAtColumn(table == m_setTable ? static_cast<int>(models::DecidedWithinModel::kSample) : 0).data().toString());
    });
}

void BoundaryPanel::connectPlots() {
  connect(m_segment, &plots::BoundaryPlot::pointChosen, this, &BoundaryPanel::selectPoint);
  connect(m_plane, &plots::PlanePlot::pointChosen, this, &BoundaryPanel::selectPoint);
  connect(m_near, &plots::NearPlot::sampleChosen, this, &BoundaryPanel::showSample);
  connect(m_segment, &plots::BoundaryPlot::legendChanged, this, &BoundaryPanel::showLegend);
  connect(m_plane, &plots::PlanePlot::legendChanged, this, &BoundaryPanel::showLegend);
  connect(m_near, &plots::NearPlot::legendChanged, this, &BoundaryPanel::showLegend);
  connect(m_zoomIn, &QToolButton::clicked, this, [this] { m_segment->zoomBy(kZoomStep); });
  connect(m_zoomOut, &QToolButton::clicked, this, [this] { m_segment->zoomBy(1 / kZoomStep); });
  connect(m_whole, &QToolButton::clicked, m_segment, &plots::BoundaryPlot::showAll);
  connect(m_nextStrip, &QToolButton::clicked, this, &BoundaryPanel::nextStrip);
  connect(m_copy, &QToolButton::clicked, this, [this] {
    if (m_scan) QGuiApplication::clipboard()->setText(models::qt(report::scanSummary(m_scan->scan, m_scan->session->samples)));
  });
}

void BoundaryPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refreshColors();
}

void BoundaryPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitSplitter(m_splitter, this);
}

void BoundaryPanel::refreshColors() {
  const plots::Theme& theme = plots::themeOf(this);
  for (const auto& [label, color] : {std::pair{m_conditions, theme.muted}, {m_warnings, theme.warn}, {m_empty, theme.muted}}) label->setStyleSheet(QStringLiteral("QLabel { color: %1; }").arg(color.name()));
}

}  // namespace ulpscope::views
