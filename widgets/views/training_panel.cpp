#include "widgets/views/training_panel.h"

#include "widgets/models/text.h"
#include "widgets/plots/training_plot.h"
#include "widgets/views/tables.h"
#include "widgets/views/texts.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
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

using models::LedgerModel;
using models::qt;
using models::RowTableModel;

constexpr int kLiveIntervalMs = 250;
constexpr int kBoxLetters = 12;  // a box asks for no more: long titles are cut, the list has all of them

QComboBox* makeBox(const QString& name, QWidget* parent) {
  auto* box = new QComboBox(parent);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(kBoxLetters);
  box->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  return box;
}

}  // namespace

TrainingPanel::TrainingPanel(Workbench& workbench, QWidget* parent) : QWidget(parent), m_workbench(workbench) {
  makeBoxes();
  makeTables();
  m_summary = makeLine(this);
  m_verdict = makeLine(this);
  QFont bold = m_verdict->font();
  bold.setBold(true);
  m_verdict->setFont(bold);
  m_plot = new plots::TrainingPlot(this);
  auto* top = new QHBoxLayout;
  top->addWidget(m_trainings, 1);
  top->addWidget(m_trajectories, 1);
  auto* splitter = new QSplitter(this);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(m_plot);
  splitter->addWidget(m_pages);
  splitter->setSizes({480, 520});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->setSpacing(3);
  layout->addLayout(top);
  layout->addWidget(m_verdict);
  layout->addWidget(m_summary);
  layout->addWidget(splitter, 1);
  connectViews();
  refreshSession();
}

void TrainingPanel::makeBoxes() {
  m_trainings = makeBox(tr("Training"), this);
  m_trajectories = makeBox(tr("Trajectory"), this);
}

void TrainingPanel::makeTables() {
  m_pages = new QTabWidget(this);
  m_pages->setDocumentMode(true);
  m_pages->setAccessibleName(tr("Tables of the training"));
  m_pages->tabBar()->setAccessibleName(tr("Tables of the training"));
  m_ledgerTable = makeTable(m_pages, &m_ledger, tr("Ledger"));
  m_ledgerTable->horizontalHeader()->moveSection(LedgerModel::kFirst, LedgerModel::kOutcome + 1);  // a skip and its reason side by side
  m_ledgerTable->setToolTip(tr("Enter selects the module of the first non-finite value"));
  m_findingTable = makeTable(m_pages, &m_findings, tr("Findings of the training"));
  m_findingTable->setToolTip(tr("Enter goes to the step in the ledger"));
  m_pages->addTab(m_ledgerTable, tr("Ledger"));
  m_pages->addTab(makeTrajectoryPage(), tr("Trajectories"));
  m_pages->addTab(m_findingTable, tr("Findings"));
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
  connect(&m_workbench, &Workbench::runningChanged, this, &TrainingPanel::onRunning);
  connect(&m_workbench.engine(), &jobs::EngineProcess::ledgerTold, this, &TrainingPanel::addLive);
  m_liveTimer.setSingleShot(true);
  connect(&m_liveTimer, &QTimer::timeout, this, &TrainingPanel::showLive);
  connect(m_trainings, &QComboBox::currentIndexChanged, this, &TrainingPanel::load);
  connect(m_trajectories, &QComboBox::currentIndexChanged, this, &TrainingPanel::showTrajectory);
  connect(&m_loader, &jobs::TrainingLoader::loaded, this, &TrainingPanel::show);
  connect(&m_loader, &jobs::TrainingLoader::failed, this, [this](const base::Error& error) {
    show(nullptr);
    m_summary->setText(tr("This training cannot be shown: %1").arg(qt(error.message())));
  });
  connect(m_plot, &plots::TrainingPlot::stepClicked, this, &TrainingPanel::selectStep);
  connect(m_ledgerTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    m_plot->setSelectedStep(current.isValid() ? std::optional<std::int64_t>(current.data(LedgerModel::kStepRole).toLongLong()) : std::nullopt);
  });
  connect(m_ledgerTable, &QTableView::activated, this, &TrainingPanel::goToModule);
  connect(m_trajectoryTable, &QTableView::activated, this, &TrainingPanel::goToTrajectory);
  connect(m_go, &QPushButton::clicked, this, &TrainingPanel::goToTrajectory);
  connect(m_findingTable, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (const std::int64_t step = index.data(RowTableModel::kKeyRole).toLongLong(); step >= 0) {
      m_pages->setCurrentIndex(kLedger);
      selectStep(step);
    }
  });
}

QString TrainingPanel::summary() const { return m_summary->text(); }
QString TrainingPanel::verdict() const { return m_verdict->text(); }

// The training shown stays, where the session still is the one that has it; else its last is shown.
void TrainingPanel::refreshSession() {
  if (m_live) return;
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
  show(nullptr);
  if (number == 0) return m_summary->setText(tr("This session has no trainings; ulpscope train RECIPE.json makes one."));
  m_summary->setText(tr("Reading the training…"));
  m_loader.load(m_workbench.sessionPath(), m_workbench.session(), number);
}

// While a training goes on it alone is shown: the trajectory that is being trained.
void TrainingPanel::onRunning() {
  if (m_workbench.isTraining() == (m_live != nullptr)) return;
  m_live = m_workbench.isTraining() ? std::make_shared<session::Training>() : nullptr;
  m_trainings->setEnabled(m_live == nullptr);
  m_liveTimer.stop();
  if (!m_live) {
    m_shownNumber = 0;
    return refreshSession();
  }
  m_loader.drop();
  const QSignalBlocker blocker(m_trainings);
  m_trainings->clear();
  m_trainings->addItem(tr("going on"));
  showLive();
}

void TrainingPanel::addLive(const protocol::LedgerUpdate& update) {
  if (!m_live) return;
  if (m_live->runs.empty() || m_live->runs.back().name != update.run) {
    m_live->runs.emplace_back();
    m_live->runs.back().name = update.run;
  }
  session::Trajectory& run = m_live->runs.back();
  run.ledger.push_back(update.line);
  run.steps = update.line.step + 1;
  run.appliedUpdates = std::max(run.appliedUpdates, update.line.appliedUpdates);
  run.finalScale = update.line.scaleAfter;
  if (!run.firstNonfinite) run.firstNonfinite = update.line.firstNonfinite;
  if (!m_liveTimer.isActive()) m_liveTimer.start(std::max(kLiveIntervalMs, static_cast<int>(run.ledger.size() / 10)));
}

void TrainingPanel::showLive() {
  if (!m_live) return;
  const QModelIndex current = m_ledgerTable->currentIndex();
  const qlonglong step = current.isValid() ? current.data(LedgerModel::kStepRole).toLongLong() : -1;
  show(std::make_shared<const session::Training>(*m_live));
  m_trajectories->setCurrentIndex(m_trajectories->count() - 1);
  if (step >= 0) selectStep(step);
  if (m_live->runs.empty()) m_summary->setText(tr("Training starts…"));
}

void TrainingPanel::show(const models::TrainingPointer& training) {
  m_training = training;
  {
    const QSignalBlocker blocker(m_trajectories);
    m_trajectories->clear();
    if (training)
      for (const session::Trajectory& run : training->runs) m_trajectories->addItem(m_live ? qt(run.name) : models::trajectoryTitle(run));
  }
  m_trajectories->setEnabled(m_trajectories->count() > 0);
  m_trajectoriesModel.setTraining(m_live ? nullptr : training);  // its ends are not known yet
  fitColumns(m_trajectoryTable);
  m_verdict->setText(!training ? QString() : training->cancelled ? (models::trainingVerdictText(*training) + tr("   Cancelled: it did not do all steps.")).trimmed() : models::trainingVerdictText(*training));
  m_verdict->setVisible(!m_verdict->text().isEmpty());
  m_pages->setTabText(kTrajectories, tr("Trajectories (%1)").arg(m_trajectoriesModel.rowCount()));
  showTrajectory(m_trajectories->currentIndex());
}

void TrainingPanel::showTrajectory(int index) {
  const auto run = index >= 0 && m_training ? std::shared_ptr<const session::Trajectory>(m_training, &m_training->runs[static_cast<std::size_t>(index)]) : nullptr;
  const session::Trajectory* fp32 = run && run->name != "fp32" ? m_training->run("fp32") : nullptr;
  m_ledger.setLedger(run ? run->ledger : std::vector<session::LedgerLine>());
  m_findings.setRun(run ? m_training : nullptr, static_cast<std::size_t>(std::max(0, index)));
  m_pages->setTabText(kFindings, tr("Findings (%1)").arg(m_findings.rowCount()));
  for (QTableView* table : {m_ledgerTable, m_findingTable}) fitColumns(table);
  m_plot->setSelectedStep(std::nullopt);
  m_plot->setContent({run, fp32 ? std::shared_ptr<const session::Trajectory>(m_training, fp32) : nullptr});
  m_trajectoryTable->setCurrentIndex(m_trajectoriesModel.index(index, 0));
  m_go->setEnabled(run != nullptr);
  m_summary->setText(run ? models::trajectorySummary(*run) : QString());
}

void TrainingPanel::goToTrajectory() {
  const QModelIndex current = m_trajectoryTable->currentIndex();
  if (!current.isValid()) return;
  m_trajectories->setCurrentIndex(current.data(RowTableModel::kKeyRole).toInt());
  m_pages->setCurrentIndex(kLedger);
}

// Of several optimizers the row that is current stays, where it is of this step.
void TrainingPanel::selectStep(std::int64_t step) {
  if (m_ledgerTable->currentIndex().isValid() && m_ledgerTable->currentIndex().data(LedgerModel::kStepRole).toLongLong() == step) return;
  const int row = m_ledger.rowOfStep(step);
  if (row >= 0) m_ledgerTable->setCurrentIndex(m_ledger.index(row, 0));
}

void TrainingPanel::goToModule(const QModelIndex& index) {
  const QVariant path = index.data(LedgerModel::kModuleRole);
  if (!path.isValid()) return;
  const models::RunPointer& run = m_workbench.shownRun();
  if (!run) return emit m_workbench.notice(tr("%1: this session has no run that shows its modules; run the model (Ctrl+N) to look at it op by op").arg(models::modulePathText(path.toString())));
  const auto& modules = run->session->model.modules;
  if (std::none_of(modules.begin(), modules.end(), [&](const model::ModuleNode& m) { return qt(m.path) == path.toString(); }))
    return emit m_workbench.notice(tr("%1 is no module of the tree").arg(path.toString()));
  m_workbench.selection().select(path.toString(), run->worstSite(path.toString()), -1);
  emit m_workbench.notice(m_ledger.index(index.row(), LedgerModel::kFirst).data().toString());
}

}  // namespace ulpscope::views
