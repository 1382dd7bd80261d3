#include "widgets/views/flips_panel.h"

#include "core/base/number_text.h"
#include "core/render/margin_geometry.h"
#include "core/report/flip_statement.h"
#include "widgets/models/text.h"
#include "widgets/plots/margin_plot.h"
#include "widgets/views/flip_sentence.h"
#include "widgets/views/flow_layout.h"
#include "widgets/views/gallery_panel.h"
#include "widgets/views/gallery_view.h"
#include "widgets/views/margin_filter.h"
#include "widgets/views/scan_actions.h"
#include "widgets/views/tables.h"

#include <QButtonGroup>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <cmath>

namespace ulpscope::views {
namespace {

using models::qt;
using models::RowTableModel;

constexpr int kFilterSteps = 60;
constexpr int kSamplesShare = 600, kPlotShare = 400;  // of the width

QToolButton* makeToggle(QWidget* parent, const QString& text, const QString& tip) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setToolTip(tip);
  button->setCheckable(true);
  button->setStyleSheet(QStringLiteral("padding-left: 4px; padding-right: 4px;"));  // four of them beside the plot's controls
  return button;
}

// What the sentence does not say: how much of the set is shown, and where a flip could be.
QString summaryOf(const models::LoadedRun& run, const report::FlipFacts& facts, int shown) {
  const session::DecisionRule& rule = run.run->settings.decision;
  if (!rule.decides()) return {};
  const QString text = FlipsPanel::tr("%1 of %2 shown").arg(qt(base::groupedInteger(shown)), qt(base::groupedInteger(facts.asked)));
  if (rule.errorsToFlip() == 0) return text;
  return text + FlipsPanel::tr("; flip possible in %1 (margin ≤ %2max error)").arg(qt(base::groupedInteger(facts.possible)), rule.errorsToFlip() == 2 ? QStringLiteral("2 × ") : QString());
}

}  // namespace

FlipsPanel::FlipsPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  m_order.setSourceModel(&m_decisions);
  m_sentence = new FlipSentence(this);
  auto* splitter = new QSplitter(this);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(makeSamples());
  splitter->addWidget(makePlot());
  splitter->setSizes({kSamplesShare, kPlotShare});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->setSpacing(4);
  layout->addWidget(m_sentence);
  layout->addWidget(splitter, 1);

  connect(&m_workbench, &Workbench::viewChanged, this, &FlipsPanel::refreshRun);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &FlipsPanel::refreshSelection);
  connect(m_showAll, &QToolButton::toggled, this, [this](bool all) {
    m_decisions.setShow(all ? models::DecisionsModel::Show::all : models::DecisionsModel::Show::flips);
    refreshFilter();
  });
  connect(&m_loader, &jobs::DecidedLoader::loaded, this, [this](const models::RunPointer& run, const models::DecidedPointer& decided) {
    if (run != m_decidedOf) return;
    m_decided = decided;
    showDecided();
  });
  connect(m_filter, &MarginFilter::changed, this, &FlipsPanel::refreshFilter);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FlipsPanel::selectRow);
  connect(m_gallery, &GalleryPanel::sampleChosen, this, &FlipsPanel::selectSample);
  connect(m_marginPlot, &plots::MarginPlot::sampleClicked, this, &FlipsPanel::selectSample);
  auto* actions = new ScanActions(m_workbench, this);
  m_table->addActions(actions->all());
  m_gallery->view()->addActions(actions->all());
  connect(m_sentence, &FlipSentence::copied, this, [this] { emit m_workbench.notice(tr("Statement copied, with its conditions.")); });
  refreshRun();
}

QWidget* FlipsPanel::makeBar() {
  auto* bar = new QWidget(this);
  const QString texts[] = {tr("Table"), tr("Gallery"), tr("Conditions")};
  const QString tips[] = {tr("The samples as a table"), tr("The samples' inputs as pictures"), tr("What the statement does not claim, and which files it is about")};
  auto* either = new QButtonGroup(this);
  for (const Page page : {kTable, kGallery, kConditions}) {
    m_pageButtons[page] = makeToggle(bar, texts[page], tips[page]);
    either->addButton(m_pageButtons[page], page);
  }
  m_pageButtons[kTable]->setChecked(true);
  connect(either, &QButtonGroup::idToggled, this, [this](int page, bool isOn) {
    if (isOn) m_pages->setCurrentIndex(page);
  });
  m_showAll = makeToggle(bar, tr("All samples"), tr("Also the samples whose decision did not change: the numbers of the margin plot"));
  m_showAll->setAccessibleName(tr("Show all samples"));
  auto* layout = new FlowLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  for (QToolButton* button : m_pageButtons) layout->addWidget(button);
  layout->addWidget(m_showAll);
  return bar;
}

QWidget* FlipsPanel::makePlot() {
  auto* side = new QWidget(this);
  m_filter = new MarginFilter(side);
  m_marginPlot = new plots::MarginPlot(side);
  auto* layout = new QVBoxLayout(side);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(m_filter);
  layout->addWidget(m_marginPlot, 1);
  return side;
}

QWidget* FlipsPanel::makeSamples() {
  auto* page = new QWidget(this);
  m_table = makeTable(page, &m_order, tr("Flips"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(-1, Qt::AscendingOrder);  // as the model has them: the worst first
  m_gallery = new GalleryPanel(page);
  m_pages = new QStackedWidget(page);
  m_pages->addWidget(m_table);
  m_pages->addWidget(m_gallery);
  m_conditions = new QPlainTextEdit(page);
  m_conditions->setReadOnly(true);
  m_conditions->setAccessibleName(tr("Conditions of the statement"));
  m_pages->addWidget(m_conditions);
  m_pages->setMinimumWidth(240);
  m_summary = new QLabel(page);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(makeBar());
  layout->addWidget(m_pages, 1);
  layout->addWidget(m_summary);
  return page;
}

QString FlipsPanel::summary() const { return m_summary->text(); }
QString FlipsPanel::conditions() const { return m_conditions->toPlainText(); }
void FlipsPanel::showPage(Page page) { m_pageButtons[page]->setChecked(true); }
void FlipsPanel::setShowAll(bool all) { m_showAll->setChecked(all); }

void FlipsPanel::selectRow(const QModelIndex& current) {
  if (!m_isRefreshing && current.isValid()) selectSample(current.data(RowTableModel::kKeyRole).toLongLong());
}

// With a flip goes the first site over tolerance: where to look next.
void FlipsPanel::selectSample(std::int64_t sample) {
  const models::RunPointer& run = m_workbench.shownRun();
  if (!run) return;
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
  const session::DecisionRule rule = run ? run->run->settings.decision : session::DecisionRule();
  m_decisions.setRun(run);
  m_marginPlot->setRun(run, run ? report::flipFacts(*run->session, *run->run).impossibleBeyond : std::nan(""));
  m_gallery->setRun(run, m_workbench.sessionPath());
  // The limit stays while runs of one session are looked at in turn.
  const QString sessionId = run ? qt(run->session->id) : QString();
  const double below = sessionId == m_sessionId ? m_filter->below() : std::numeric_limits<double>::infinity();
  m_sessionId = sessionId;
  m_filter->setSteps(run && rule.errorsToFlip() > 0 ? render::marginSteps(run->run->decisions, kFilterSteps) : std::vector<double>());
  if (m_filter->isEnabled()) m_filter->setBelow(below);
  for (QToolButton* control : {m_pageButtons[kTable], m_pageButtons[kGallery], m_showAll}) control->setEnabled(rule.decides());
  m_isRefreshing = false;
  refreshFilter();
  fitColumns(m_table);
}

// Names for what did not flip; read once somebody wants to see all.
void FlipsPanel::showDecided() {
  const models::RunPointer& run = m_workbench.shownRun();
  if (!run || !m_showAll->isChecked() || !run->run->settings.decision.decides()) return;
  if (m_decidedOf != run) {
    m_decidedOf = run;
    m_decided.reset();
    return m_loader.load(m_workbench.sessionPath(), run);
  }
  if (!m_decided) return;
  m_isRefreshing = true;
  m_decisions.setDecided(m_decided);
  m_gallery->setDecided(m_decided);
  m_isRefreshing = false;
  refreshSelection();
  fitColumns(m_table);
}

void FlipsPanel::refreshFilter() {
  if (m_isRefreshing) return;
  m_isRefreshing = true;
  const models::RunPointer& run = m_workbench.shownRun();
  models::DecisionFilter filter;
  filter.all = m_showAll->isChecked();
  filter.marginBelow = m_filter->below();
  m_order.setMarginBelow(filter.marginBelow);
  m_gallery->setFilter(filter);
  m_marginPlot->setMarginBelow(filter.marginBelow);
  setSentence(run, filter.marginBelow);
  m_summary->setText(run ? summaryOf(*run, report::flipFacts(*run->session, *run->run), m_order.rowCount()) : QString());
  m_summary->setToolTip(m_summary->text());
  m_isRefreshing = false;
  refreshSelection();
  showDecided();
}

void FlipsPanel::setSentence(const models::RunPointer& run, double marginBelow) {
  const report::FlipStatement statement = run ? report::flipStatement(*run->session, *run->run, marginBelow) : report::FlipStatement();
  m_sentence->setStatement(statement);
  QStringList lines;
  for (const std::string& condition : statement.conditions) lines << QStringLiteral("• ") + qt(condition);
  m_conditions->setPlainText(lines.join(u'\n'));
  m_pageButtons[kConditions]->setText(lines.isEmpty() ? tr("Conditions") : tr("Conditions (%1)").arg(lines.size()));
  m_pageButtons[kConditions]->setEnabled(!lines.isEmpty());
  if (lines.isEmpty() && m_pageButtons[kConditions]->isChecked()) showPage(kTable);
}

void FlipsPanel::refreshSelection() {
  m_isRefreshing = true;
  const std::int64_t sample = m_workbench.selection().sample();
  m_marginPlot->setSelectedSample(sample);
  m_gallery->setSelectedSample(sample);
  const int row = m_decisions.rowOfKey(static_cast<qlonglong>(sample));
  const QModelIndex shown = row < 0 ? QModelIndex() : m_order.mapFromSource(m_decisions.index(row, 0));
  if (shown.isValid())
    m_table->setCurrentIndex(shown);
  else
    m_table->selectionModel()->clear();
  m_isRefreshing = false;
}

}  // namespace ulpscope::views
