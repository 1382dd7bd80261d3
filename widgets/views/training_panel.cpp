#include "widgets/views/training_panel.h"

#include "core/storage/session_paths.h"
#include "widgets/models/text.h"
#include "widgets/plots/training_plot.h"
#include "widgets/views/checkpoints_page.h"
#include "widgets/views/ledger_page.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ulpscope::views {
namespace {

using models::qt;
using models::RowTableModel;

constexpr int kBoxLetters = 12;

}  // namespace

TrainingPanel::TrainingPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench), m_live(workbench) {
  makeBoxes();
  makeHeadline();
  makeTables();
  m_plot = new plots::TrainingPlot(this);
  auto* top = new QHBoxLayout;
  top->addWidget(m_trainings, 1);
  top->addWidget(m_trajectories, 1);
  m_splitter = new QSplitter(this);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->addWidget(m_plot);
  m_splitter->addWidget(m_pages);
  m_splitter->setSizes({480, 520});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->setSpacing(3);
  layout->addLayout(top);
  for (QLabel* line : {m_alarms, m_verdict, m_summary}) layout->addWidget(line);
  layout->addWidget(m_splitter, 1);
  connectViews();
  connectTables();
  refreshColors();
  refreshSession();
}

void TrainingPanel::makeBoxes() {
  m_trainings = makeTitleBox(tr("Training"), kBoxLetters, this);
  m_trajectories = makeTitleBox(tr("Trajectory"), kBoxLetters, this);
}

// What is wrong comes first.
void TrainingPanel::makeHeadline() {
  m_alarms = makeLine(this);
  m_verdict = makeLine(this);
  m_summary = makeLine(this);
  for (QLabel* line : {m_alarms, m_verdict}) {
    QFont bold = line->font();
    bold.setBold(true);
    line->setFont(bold);
  }
}

void TrainingPanel::makeTables() {
  m_pages = new QTabWidget(this);
  m_pages->setDocumentMode(true);
  m_pages->setAccessibleName(tr("Tables of the training"));
  m_pages->tabBar()->setAccessibleName(tr("Tables of the training"));
  m_ledger = new LedgerPage(m_pages);
  m_findingTable = makeTable(m_pages, &m_findings, tr("Findings of the training"));
  m_findingTable->setAccessibleDescription(tr("Enter goes to the step in the ledger"));
  wrapLastColumn(m_findingTable);
  m_checkpoints = new CheckpointsPage(m_pages);
  m_pages->addTab(m_ledger, tr("Ledger"));
  m_pages->addTab(makeTrajectoryPage(), tr("Trajectories"));
  m_pages->addTab(m_findingTable, tr("Findings"));
  m_pages->addTab(m_checkpoints, tr("Checkpoints"));
}

QWidget* TrainingPanel::makeTrajectoryPage() {
  auto* page = new QWidget(m_pages);
  m_trajectoryTable = makeTable(page, &m_trajectoriesModel, tr("Trajectories side by side"));
  m_go = new QPushButton(tr("Go to its ledger"), page);
  m_go->setToolTip(tr("Show the selected trajectory (Enter in the table)"));
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(m_trajectoryTable, 1);
  layout->addWidget(m_go, 0, Qt::AlignRight);
  return page;
}

void TrainingPanel::connectViews() {
  connect(&m_workbench, &Workbench::sessionChanged, this, &TrainingPanel::refreshSession);
  connect(&m_workbench, &Workbench::runsChanged, this, &TrainingPanel::refreshSession);
  connect(&m_workbench, &Workbench::viewChanged, this, &TrainingPanel::refreshSession);  // a closed session says no more than this
  connect(&m_workbench, &Workbench::trained, this, [this](int number) { m_wanted = number; });
  connect(&m_workbench, &Workbench::runningChanged, this, [this] { m_checkpoints->setBusy(m_workbench.isRunning()); });
  connect(&m_live, &LiveTraining::begun, this, &TrainingPanel::beginLive);
  connect(&m_live, &LiveTraining::changed, this, &TrainingPanel::showLive);
  connect(&m_live, &LiveTraining::ended, this, [this] {
    m_trainings->setEnabled(true);
    m_shownNumber = 0;
    refreshSession();
  });
  connect(m_trainings, &QComboBox::currentIndexChanged, this, &TrainingPanel::load);
  connect(m_trajectories, &QComboBox::currentIndexChanged, this, &TrainingPanel::showTrajectory);
  connect(m_trajectories, &QComboBox::activated, this, [this] { m_chosen = m_trajectories->currentText(); });
  connect(&m_loader, &jobs::TrainingLoader::loaded, this, [this](const models::TrainingPointer& training) { show(training, 0); });
  connect(&m_loader, &jobs::TrainingLoader::failed, this, [this](const base::Error& error) {
    show(nullptr, -1);
    m_summary->setText(tr("This training cannot be shown: %1").arg(qt(error.message())));
  });
}

void TrainingPanel::connectTables() {
  connect(m_plot, &plots::TrainingPlot::stepClicked, m_ledger, &LedgerPage::selectStep);
  connect(m_ledger, &LedgerPage::stepSelected, m_plot, &plots::TrainingPlot::setSelectedStep);
  connect(m_ledger, &LedgerPage::moduleRequested, this, &TrainingPanel::goToModule);
  connect(m_trajectoryTable, &QTableView::activated, this, &TrainingPanel::goToTrajectory);
  connect(m_go, &QPushButton::clicked, this, &TrainingPanel::goToTrajectory);
  connect(m_findingTable, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (const std::int64_t step = index.data(RowTableModel::kKeyRole).toLongLong(); step >= 0) {
      m_pages->setCurrentIndex(kLedger);
      m_ledger->selectStep(step);
    }
  });
}

QTableView* TrainingPanel::ledgerTable() const { return m_ledger->table(); }
QString TrainingPanel::summary() const { return m_summary->text(); }
QString TrainingPanel::alarms() const { return m_alarms->text(); }
QString TrainingPanel::verdict() const { return m_verdict->text(); }

std::optional<models::TrainingStanding> TrainingPanel::standing() const { return m_training ? std::optional(models::standingOf(*m_training)) : std::nullopt; }

// The training shown stays, where the session still is the one that has it; else its last is shown.
void TrainingPanel::refreshSession() {
  if (m_live.isOn()) return;
  const auto& session = m_workbench.session();
  const bool isSame = session && m_workbench.sessionPath() == m_shownPath;
  const int before = isSame ? m_shownNumber : 0;
  const auto isThere = [&](int number) { return session && std::any_of(session->trainings.begin(), session->trainings.end(), [number](const auto& t) { return t.number == number; }); };
  const int wanted = isThere(m_wanted) ? std::exchange(m_wanted, 0) : isThere(before) ? before : 0;
  {
    const QSignalBlocker blocker(m_trainings);
    m_trainings->clear();
    if (session)
      for (const session::TrainingEntry& entry : session->trainings) m_trainings->addItem(QStringLiteral("%1: %2").arg(entry.number).arg(qt(entry.title)), entry.number);
    m_trainings->setCurrentIndex(wanted > 0 ? m_trainings->findData(wanted) : m_trainings->count() - 1);
  }
  if (wanted > 0 && wanted == before && m_wanted == 0) return;
  load();
}

void TrainingPanel::load() {
  const int number = m_trainings->currentData().toInt();
  m_shownNumber = number;
  m_shownPath = m_workbench.sessionPath();
  m_loader.drop();
  show(nullptr, -1);
  if (number == 0) return m_summary->setText(tr("This session has no trainings; Run > Train… (Ctrl+T) makes one."));
  m_summary->setText(tr("Reading the training…"));
  m_loader.load(m_workbench.sessionPath(), m_workbench.session(), number);
}

// While a training goes on it alone is shown.
void TrainingPanel::beginLive() {
  m_trainings->setEnabled(false);
  m_chosen.clear();
  m_loader.drop();
  const QSignalBlocker blocker(m_trainings);
  m_trainings->clear();
  m_trainings->addItem(tr("going on"));
  showLive();
}

void TrainingPanel::showLive() {
  const std::optional<std::int64_t> step = m_ledger->currentStep();
  const models::TrainingPointer training = m_live.snapshot();
  if (!training) return;
  const auto chosen = std::find_if(training->runs.begin(), training->runs.end(), [this](const auto& run) { return qt(run.name) == m_chosen; });
  show(training, chosen == training->runs.end() ? m_live.runToShow() : static_cast<int>(chosen - training->runs.begin()));
  if (step) m_ledger->selectStep(*step);
  if (training->runs.empty()) m_summary->setText(tr("Training starts…"));
  else if (training->runs.size() > 1) m_summary->setText(tr("%1  ·  now training: %2").arg(m_summary->text(), qt(training->runs.back().name)));
}

void TrainingPanel::show(const models::TrainingPointer& training, int run) {
  m_training = training;
  {
    const QSignalBlocker blocker(m_trajectories);
    m_trajectories->clear();
    if (training)
      for (const session::Trajectory& each : training->runs) m_trajectories->addItem(m_live.isOn() ? qt(each.name) : models::trajectoryTitle(each));
    m_trajectories->setCurrentIndex(run);
  }
  m_trajectories->setEnabled(m_trajectories->count() > 0);
  m_trajectoriesModel.setTraining(m_live.isOn() ? nullptr : training);  // its ends are not known yet
  fitColumns(m_trajectoryTable);
  m_pages->setTabText(kTrajectories, tr("Trajectories (%1)").arg(m_trajectoriesModel.rowCount()));
  const std::string master = models::core(m_shownPath);
  m_checkpoints->setTraining(training, training ? qt(storage::checkpointFolderPath(master, training->number)) : QString());
  m_pages->setTabText(kCheckpoints, tr("Checkpoints (%1)").arg(m_checkpoints->count()));
  m_pages->setTabVisible(kCheckpoints, m_checkpoints->count() > 0 || (training && training->recorded));
  showTrajectory(m_trajectories->currentIndex());
}

void TrainingPanel::showTrajectory(int index) {
  const auto run = index >= 0 && m_training ? std::shared_ptr<const session::Trajectory>(m_training, &m_training->runs[static_cast<std::size_t>(index)]) : nullptr;
  const session::Trajectory* fp32 = run && run->name != "fp32" ? m_training->run("fp32") : nullptr;
  m_ledger->setLedger(run ? run->ledger : std::vector<session::LedgerLine>());
  m_findings.setRun(run ? m_training : nullptr, static_cast<std::size_t>(std::max(0, index)));
  m_findingTable->setColumnHidden(models::TrainingFindingsModel::kWhere, !m_findings.hasPlaces());
  fitColumns(m_findingTable);
  m_pages->setTabText(kFindings, m_live.isOn() ? tr("Findings (at the end)") : tr("Findings (%1)").arg(m_findings.rowCount()));
  m_plot->setSelectedStep(std::nullopt);
  const bool hasTimeline = index == 0;  // checkpoints are of the recipe's trajectory
  m_plot->setContent({run, fp32 ? std::shared_ptr<const session::Trajectory>(m_training, fp32) : nullptr, hasTimeline && m_training ? models::timelineOf(*m_training) : std::vector<models::TimelineMark>()});
  m_trajectoryTable->setCurrentIndex(m_trajectoriesModel.index(index, 0));
  m_go->setEnabled(run != nullptr);
  showHeadline(run.get());
  emit standingChanged();
}

void TrainingPanel::showHeadline(const session::Trajectory* run) {
  QStringList verdict;
  if (m_training && !m_live.isOn()) {
    verdict << models::trainingVerdictText(*m_training);
    if (m_training->cancelled) verdict << tr("Cancelled: it did not do all steps.");
    verdict << models::historyText(*m_training);
    verdict.removeAll(QString());
  }
  setLine(m_verdict, verdict.join(QStringLiteral("  ·  ")));
  setLine(m_alarms, run ? models::alarmsText(*run) : QString());
  m_summary->setText(run ? models::trajectorySummary(*run, models::askedSteps(*m_training)) : QString());
  refreshColors();
}

void TrainingPanel::refreshColors() {
  const plots::Theme& theme = plots::themeOf(this);
  const bool isFail = m_training && m_training->verdict && m_training->verdict->status != session::JudgedAs::pass;
  m_alarms->setStyleSheet(QStringLiteral("QLabel { color: %1; }").arg(theme.bad.name()));
  m_verdict->setStyleSheet(QStringLiteral("QLabel { color: %1; }").arg((isFail ? theme.bad : theme.text).name()));
}

void TrainingPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refreshColors();
}

void TrainingPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitSplitter(m_splitter, this);
}

void TrainingPanel::goToTrajectory() {
  const QModelIndex current = m_trajectoryTable->currentIndex();
  if (!current.isValid()) return;
  m_trajectories->setCurrentIndex(current.data(RowTableModel::kKeyRole).toInt());
  m_pages->setCurrentIndex(kLedger);
}

void TrainingPanel::goToModule(const QString& modulePath, const QString& text) {
  const auto& session = m_workbench.session();
  if (!session) return emit m_workbench.notice(tr("%1: its modules are shown when the training has ended").arg(models::modulePathText(modulePath)));
  const auto& modules = session->model.modules;
  if (std::none_of(modules.begin(), modules.end(), [&](const model::ModuleNode& m) { return qt(m.path) == modulePath; }))
    return emit m_workbench.notice(tr("%1 is no module of the tree").arg(models::modulePathText(modulePath)));
  const models::RunPointer& run = m_workbench.shownRun();
  m_workbench.selection().select(modulePath, run ? run->worstSite(modulePath) : -1, -1);
  emit moduleShown();
  emit m_workbench.notice(text);
}

}  // namespace ulpscope::views
