#include "widgets/views/findings_panel.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/plots/margin_plot.h"
#include "widgets/plots/theme.h"
#include "widgets/views/tables.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

using models::qt;
using models::RowTableModel;

constexpr int kLogLines = 5000;

QString comparisonOf(const session::RunRecord& a, const session::RunRecord& b) {
  QStringList parts;
  parts << FindingsPanel::tr("first non-finite: %1 → %2").arg(models::firstNonfiniteText(a), models::firstNonfiniteText(b));
  if (b.settings.decision.decides())
    parts << FindingsPanel::tr("flips: %1 → %2").arg(a.flips.size()).arg(b.flips.size());
  if (!a.noDecision.empty() || !b.noDecision.empty())
    parts << FindingsPanel::tr("without a decision: %1 → %2").arg(a.noDecision.size()).arg(b.noDecision.size());
  parts << FindingsPanel::tr("worst error: %1 → %2").arg(qt(base::shortNumber(models::worstError(a))), qt(base::shortNumber(models::worstError(b))));
  return parts.join(QStringLiteral("   ·   "));
}

}  // namespace

FindingsPanel::FindingsPanel(Workbench& workbench, QWidget* parent) : QTabWidget(parent), m_workbench(workbench) {
  setDocumentMode(true);
  setAccessibleName(tr("Findings"));
  tabBar()->setAccessibleName(tr("Findings"));
  addTab(makeFlips(), tr("Flips"));
  addTab(makeNonfinite(), tr("Non-finite"));
  addTab(makeRuns(), tr("Runs"));
  addTab(makeLog(), tr("Log"));
  connectViews();
}

QWidget* FindingsPanel::makeFlips() {
  auto* page = new QWidget(this);
  m_flipOrder = new QSortFilterProxyModel(page);
  m_flipOrder->setSourceModel(&m_decisions);
  m_flipOrder->setSortRole(models::kSortRole);
  m_flipTable = makeTable(page, m_flipOrder, tr("Flips"));
  m_flipTable->setSortingEnabled(true);
  m_flipTable->sortByColumn(4, Qt::AscendingOrder);
  m_showAll = new QToolButton(page);
  m_showAll->setText(tr("All samples"));
  m_showAll->setCheckable(true);
  m_showAll->setToolTip(tr("Also the samples whose decision did not change: the numbers of the margin plot"));
  m_showAll->setAccessibleName(tr("Show all samples"));
  m_flipSummary = new QLabel(page);
  m_marginPlot = new plots::MarginPlot(page);
  auto* left = new QWidget(page);
  auto* top = new QHBoxLayout;
  top->addWidget(m_flipSummary, 1);
  top->addWidget(m_showAll);
  auto* leftLayout = new QVBoxLayout(left);
  leftLayout->setContentsMargins(0, 0, 0, 0);
  leftLayout->setSpacing(4);
  leftLayout->addLayout(top);
  leftLayout->addWidget(m_flipTable, 1);
  auto* splitter = new QSplitter(page);
  splitter->addWidget(left);
  splitter->addWidget(m_marginPlot);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->addWidget(splitter);
  return page;
}

QWidget* FindingsPanel::makeNonfinite() {
  auto* page = new QWidget(this);
  m_diagnosis = new QLabel(page);
  m_diagnosis->setWordWrap(true);
  m_diagnosis->setTextFormat(Qt::PlainText);
  m_diagnosis->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont bold = m_diagnosis->font();
  bold.setBold(true);
  m_diagnosis->setFont(bold);
  m_copy = new QToolButton(page);
  m_copy->setText(tr("Copy"));
  m_copy->setToolTip(tr("Copy the diagnosis"));
  m_copy->setAccessibleName(tr("Copy the diagnosis"));
  m_copy->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_nonfiniteTable = makeTable(page, &m_nonfinite, tr("Non-finite origins"));
  auto* top = new QHBoxLayout;
  top->addWidget(m_diagnosis, 1);
  top->addWidget(m_copy, 0, Qt::AlignTop);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addLayout(top);
  layout->addWidget(m_nonfiniteTable, 1);
  return page;
}

QWidget* FindingsPanel::makeRuns() {
  auto* page = new QWidget(this);
  m_chooseA = new QComboBox(page);
  m_chooseA->setAccessibleName(tr("Run A"));
  m_chooseB = new QComboBox(page);
  m_chooseB->setAccessibleName(tr("Run B"));
  m_comparison = new QLabel(page);
  m_comparison->setWordWrap(true);
  m_comparison->setTextFormat(Qt::PlainText);
  m_comparison->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_runTable = makeTable(page, &m_runs, tr("Runs"));
  auto* top = new QHBoxLayout;
  for (const auto& [text, combo] : {std::pair{tr("A"), m_chooseA}, std::pair{tr("B"), m_chooseB}}) {
    top->addWidget(new QLabel(text, page));
    top->addWidget(combo);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    combo->setMaximumWidth(300);
    top->addSpacing(8);
  }
  top->addStretch(1);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addLayout(top);
  layout->addWidget(m_comparison);
  layout->addWidget(m_runTable, 1);
  return page;
}

QWidget* FindingsPanel::makeLog() {
  m_log = new QPlainTextEdit(this);
  m_log->setReadOnly(true);
  m_log->setMaximumBlockCount(kLogLines);
  m_log->setAccessibleName(tr("Log of engine and model"));
  m_log->setPlaceholderText(tr("What the engine and the model print stands here."));
  auto* page = new QWidget(this);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addWidget(m_log);
  return page;
}

void FindingsPanel::connectViews() {
  connect(&m_workbench, &Workbench::sessionChanged, this, &FindingsPanel::refreshSession);
  connect(&m_workbench, &Workbench::viewChanged, this, &FindingsPanel::refreshRun);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &FindingsPanel::refreshSelection);
  connect(&m_workbench, &Workbench::logged, m_log, &QPlainTextEdit::appendPlainText);
  connect(m_showAll, &QToolButton::toggled, this, [this](bool all) {
    m_decisions.setShow(all ? models::DecisionsModel::Show::all : models::DecisionsModel::Show::flips);
    refreshSelection();
  });
  connect(m_copy, &QToolButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(diagnosis());
    emit m_workbench.notice(tr("Diagnosis copied."));
  });
  for (QComboBox* combo : {m_chooseA, m_chooseB}) connect(combo, &QComboBox::activated, this, &FindingsPanel::chooseRuns);
  connect(m_nonfiniteTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FindingsPanel::selectFindingRow);
  connect(m_flipTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FindingsPanel::selectFlipRow);
  connect(m_marginPlot, &plots::MarginPlot::sampleClicked, &m_workbench.selection(), &models::Selection::selectSample);
}

void FindingsPanel::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  m_copy->setIcon(plots::themedIcon(QStringLiteral("copy"), theme.text, theme.muted));
}

void FindingsPanel::selectFindingRow(const QModelIndex& current) {
  const models::RunPointer& run = m_workbench.shownRun();
  if (m_isRefreshing || !current.isValid() || !run) return;
  const auto places = m_workbench.findings();
  const FindingPlace& place = places[static_cast<std::size_t>(current.data(RowTableModel::kKeyRole).toInt())];
  m_workbench.selection().select(place.modulePath, place.site, place.sample);
}

void FindingsPanel::selectFlipRow(const QModelIndex& current) {
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

void FindingsPanel::refreshRun() {
  m_isRefreshing = true;
  const models::RunPointer& run = m_workbench.shownRun();
  m_decisions.setRun(run);
  m_nonfinite.setRun(run);
  m_marginPlot->setRun(run ? run->run : nullptr);
  const std::size_t flips = run ? run->run->flips.size() : 0;
  const std::size_t origins = run ? run->run->nonfiniteOrigins.size() : 0;
  setTabText(kFlips, tr("Flips (%1)").arg(flips));
  setTabText(kNonfinite, tr("Non-finite (%1)").arg(origins));
  const bool decides = run && run->run->settings.decision.decides();
  const std::size_t decisions = run ? run->run->decisions.size() : 0;
  QString summary = !decides ? tr("This run reads no decisions (run with --decision argmax).") : tr("%1 of %2 flipped").arg(qt(base::groupedInteger(static_cast<std::int64_t>(flips))), qt(base::counted(static_cast<std::int64_t>(decisions), "decision")));
  if (decides && !run->run->noDecision.empty()) summary += tr(", %1 without a decision (NaN scores)").arg(run->run->noDecision.size());
  m_flipSummary->setText(summary);
  m_showAll->setEnabled(decides);
  for (QTableView* table : {m_flipTable, m_nonfiniteTable}) fitColumns(table);
  m_isRefreshing = false;
  refreshSelection();
}

void FindingsPanel::refreshSession() {
  m_isRefreshing = true;
  const auto& session = m_workbench.session();
  const QString idA = m_workbench.runA() ? m_workbench.runA()->id() : QString();
  const QString idB = m_workbench.runB() ? m_workbench.runB()->id() : QString();
  m_runs.setSession(session, idA, idB);
  fitColumns(m_runTable);
  m_chooseA->clear();
  m_chooseB->clear();
  m_chooseA->addItem(tr("none"), QString());
  for (const session::RunRecord& run : session->runs) {
    const QString text = tr("run %1: %2").arg(run.number).arg(models::policyText(run));
    m_chooseA->addItem(text, qt(run.id()));
    m_chooseB->addItem(text, qt(run.id()));
  }
  m_chooseA->setCurrentIndex(std::max(0, m_chooseA->findData(idA)));
  m_chooseB->setCurrentIndex(m_chooseB->findData(idB));
  setTabText(kRuns, tr("Runs (%1)").arg(session->runs.size()));
  m_comparison->setText(comparison());
  m_comparison->setVisible(!comparison().isEmpty());
  m_isRefreshing = false;
}

QString FindingsPanel::comparison() const {
  const models::RunPointer& a = m_workbench.runA();
  const models::RunPointer& b = m_workbench.runB();
  return a && b ? comparisonOf(*a->run, *b->run) : QString();
}

void FindingsPanel::chooseRuns() { m_workbench.showRuns(m_chooseA->currentData().toString(), m_chooseB->currentData().toString()); }

QString FindingsPanel::diagnosis() const { return m_diagnosis->text(); }

QString FindingsPanel::logText() const { return m_log->toPlainText(); }

void FindingsPanel::refreshDiagnosis() {
  const models::RunPointer& run = m_workbench.shownRun();
  const bool hasFinding = run && !run->run->nonfiniteOrigins.empty();
  m_copy->setVisible(hasFinding);
  m_nonfiniteTable->setVisible(hasFinding);
  if (!run) return m_diagnosis->clear();
  if (!hasFinding) return m_diagnosis->setText(tr("%1: no NaN or inf that FP32 does not have.").arg(run->label()));
  std::size_t shown = 0;
  for (std::size_t i = 0; i < run->run->nonfiniteOrigins.size(); ++i)
    if (run->run->nonfiniteOrigins[i].site == m_workbench.selection().site()) shown = i;
  m_diagnosis->setText(qt(run->run->nonfiniteOrigins[shown].diagnosis));
}

void FindingsPanel::refreshSelection() {
  m_isRefreshing = true;
  refreshDiagnosis();
  const models::RunPointer& run = m_workbench.shownRun();
  const models::Selection& selection = m_workbench.selection();
  m_marginPlot->setSelectedSample(selection.sample());
  const int flipRow = m_decisions.rowOfKey(static_cast<qlonglong>(selection.sample()));
  if (flipRow >= 0)
    m_flipTable->setCurrentIndex(m_flipOrder->mapFromSource(m_decisions.index(flipRow, 0)));
  else
    m_flipTable->selectionModel()->clear();
  int originRow = -1;
  if (run)
    for (std::size_t i = 0; i < run->run->nonfiniteOrigins.size(); ++i)
      if (selection.site() >= 0 && run->run->nonfiniteOrigins[i].site == selection.site()) originRow = static_cast<int>(i);
  if (originRow >= 0)
    m_nonfiniteTable->setCurrentIndex(m_nonfinite.index(originRow, 0));
  else
    m_nonfiniteTable->selectionModel()->clear();
  m_isRefreshing = false;
}

}  // namespace ulpscope::views
