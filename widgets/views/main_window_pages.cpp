// Which page stands in the middle of the window, and the ways between them: start, run sheet, criteria sheet, results.
#include "core/session/criteria.h"
#include "core/session/demo.h"
#include "core/session/lineage.h"
#include "widgets/models/drop_plan.h"
#include "widgets/models/text.h"
#include "widgets/views/boundary_desk.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/criteria_panel.h"
#include "widgets/views/criteria_sheet.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/main_window.h"
#include "widgets/views/message_bar.h"
#include "widgets/views/run_sheet.h"
#include "widgets/views/start_page.h"
#include "widgets/views/train_dialog.h"
#include "widgets/views/training_desk.h"
#include "widgets/views/training_panel.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QStackedWidget>
#include <QToolBar>

#include <utility>

namespace ulpscope::views {
namespace {

using models::core;
using models::qt;
using models::RunField;

QStringList localFiles(const QMimeData* mime) {
  QStringList paths;
  for (const QUrl& url : mime->urls())
    if (url.isLocalFile()) paths << url.toLocalFile();
  return paths;
}

session::Criteria criteriaOf(const std::string& canonical) {
  auto criteria = session::criteriaFromText(canonical);
  return criteria.ok() ? criteria.value() : session::Criteria();
}

}  // namespace

void MainWindow::connectPages() {
  connect(m_start, &StartPage::demoChosen, this, &MainWindow::runDemo);
  connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseSession);
  connect(m_start, &StartPage::sessionChosen, this, &MainWindow::open);
  connect(m_start, &StartPage::locateRequested, this, &MainWindow::locate);
  connect(m_start, &StartPage::exploreRequested, this, [this] { newRun(false); });
  connect(m_start, &StartPage::validateRequested, this, [this] { newRun(true); });
  connect(m_start, &StartPage::trainRequested, this, [this] { train({}); });
  connect(m_runSheet, &RunSheet::goOn, this, &MainWindow::onForm);
  connect(m_runSheet, &RunSheet::cancelled, this, &MainWindow::leaveSheet);
  connect(m_criteria, &CriteriaSheet::locked, this, &MainWindow::onLocked);
  connect(m_criteria, &CriteriaSheet::cancelled, this, [this] { m_isRevising ? leaveSheet() : showPage(m_runSheet); });
  connect(&m_workbench, &Workbench::trained, this, [this] { m_wantsTraining = true; });
  connect(&m_workbench, &Workbench::runEnded, this, &MainWindow::onRunEnded);
  connect(m_findings->criteria(), &CriteriaPanel::validateRequested, this, &MainWindow::validateThis);
  connect(m_findings->criteria(), &CriteriaPanel::reviseRequested, this, &MainWindow::reviseCriteria);
  connect(&m_workbench, &Workbench::runningChanged, this, &MainWindow::onRunningChanged);
  new TrainingDesk(m_workbench, m_findings->training()->checkpoints(), this);
  auto* boundary = new BoundaryDesk(m_workbench, m_findings->boundary(), this);
  connect(boundary, &BoundaryDesk::formReady, this, [this](const models::RunForm& form) {
    m_runSheet->begin(RunSheet::Intent::explore, form);
    showPage(m_runSheet);
  });
  connect(&m_workbench.scanChoice(), &models::ScanChoice::finished, this, [this] { m_actions.at(QStringLiteral("boundary"))->trigger(); });
  connect(&m_workbench, &Workbench::replayed, this, [this](const QString& text) { m_message->showHint(text, {}, {}); });
  connect(&m_workbench, &Workbench::demoLoaded, this, [this](const QString& text, const QStringList& cure) {
    if (cure.isEmpty()) return m_message->showHint(text, {}, {});
    m_message->showHint(text, tr("Keep %1 in FP32 and run again").arg(cure.join(QStringLiteral(", "))), [this, cure] {
      for (const QString& path : cure) toggleFp32(path);
      rerun();
    });
  });
  m_confirmClose = [this](const QStringList& lost) {
    return QMessageBox::question(this, tr("Ulpscope"), tr("This would be lost:\n\n%1").arg(lost.join(u'\n')), QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Cancel) == QMessageBox::Discard;
  };
}

// Docks and steps belong to results alone; while criteria are written they are covered, and no menu brings them back.
void MainWindow::showPage(QWidget* page) {
  const bool wasResults = m_showsResults;  // not the page alone: a first run fills the heatmap before there is a session
  if (wasResults && page != m_heatmap) m_dockState = m_docks->state();
  // A stack is as wide as its widest page wants, seen or not: the docks would pay for it.
  for (int i = 0; i < m_stack->count(); ++i) {
    QWidget* each = m_stack->widget(i);
    each->setSizePolicy(each == page ? QSizePolicy::Preferred : QSizePolicy::Ignored, each == page ? QSizePolicy::Preferred : QSizePolicy::Ignored);
  }
  m_stack->setCurrentWidget(page);
  if (page != m_heatmap && !m_workbench.isRunning() && m_heatmap->isLive()) m_heatmap->endLive();
  const bool isResults = page == m_heatmap && (m_workbench.session() != nullptr || m_workbench.isTraining());
  m_showsResults = isResults;
  for (QDockWidget* dock : m_docks->all()) dock->toggleViewAction()->setEnabled(isResults);
  if (!isResults) m_status->clear();  // it may tell a result
  if (!isResults) m_message->dropHint();
  if (!isResults)
    m_docks->hideAll();
  else if (!wasResults && !m_docks->restore(m_dockState))
    resetLayout();
  fitToContent();
  m_stepBar->setVisible(isResults);
  refreshActions();
}

QByteArray MainWindow::dockState() const { return m_showsResults ? m_docks->state() : m_dockState; }

void MainWindow::showStart() {
  m_start->setRecentSessions(m_recentSessions);
  showPage(m_start);
}

void MainWindow::showSession() {
  if (m_workbench.session()) leaveSheet();
}

void MainWindow::showResults() {
  if (isCovered()) return;
  showPage(m_heatmap);
}

bool MainWindow::isCovered() const { return m_stack->currentWidget() == m_criteria && !m_isRevising; }

void MainWindow::leaveSheet() {
  m_isRevising = false;
  showPage(m_workbench.session() ? static_cast<QWidget*>(m_heatmap) : m_start);
}

// A run into a new session: its cells fill the heatmap before there is a session to show.
void MainWindow::onRunningChanged() {
  if (!m_workbench.isRunning()) return fitToContent();
  m_message->dropHint();
  m_message->dropProblem();
  m_isRevising = false;
  if (m_stack->currentWidget() != m_heatmap || m_workbench.isTraining()) showPage(m_heatmap);
  if (m_workbench.isTraining()) {
    m_docks->at(DockLayout::kFindings)->show();
    m_findings->setCurrentIndex(FindingsPanel::kTraining);
  }
  fitToContent();
}

// A run that failed or was cancelled goes back to where it was asked for, with all that was typed there.
void MainWindow::onRunEnded(bool isGood) {
  QWidget* from = std::exchange(m_cameFrom, nullptr);
  if (isGood) return;
  if (keepsCancelled()) return showCancelled(from);
  if (from != nullptr)
    showPage(from);
  else if (!m_workbench.session())
    showPage(m_start);
}

// A first run that was cancelled has no session to fall back on: what it measured stays in sight until another page is opened.
bool MainWindow::keepsCancelled() const { return m_workbench.wasCancelled() && !m_workbench.session() && m_workbench.live().samplesDone() > 0 && m_stack->currentWidget() == m_heatmap; }

void MainWindow::showCancelled(QWidget* from) {
  const auto content = m_workbench.live().content();
  m_heatmap->showLive(content, HeatmapPanel::LiveState::cancelled);
  const QString text = tr("Cancelled, not saved: %1 of %2 samples had been measured. They stay here until another page is opened.").arg(m_workbench.live().samplesDone()).arg(content->columnCount());
  if (from == nullptr) return m_message->showHint(text, tr("Run again"), [this] { m_workbench.runAgain(); });
  m_message->showHint(text, tr("Back to the settings"), [this, from] { showPage(from); });
}

void MainWindow::newRun(bool validates) {
  m_runSheet->begin(validates ? RunSheet::Intent::validate : RunSheet::Intent::explore, RunSheet::defaults());
  showPage(m_runSheet);
}

void MainWindow::runWithOtherSettings() {
  if (!m_workbench.runB()) return;
  m_runSheet->beginInSession(models::formOf(m_workbench.nextRequest()));
  showPage(m_runSheet);
}

void MainWindow::train(const QString& recipe) {
  if (m_workbench.isRunning()) return m_message->showProblem(tr("A run is going on; train when it has ended"));
  const bool isWritable = m_workbench.session() && m_workbench.readOnlyReason().isEmpty();
  auto* dialog = new TrainDialog({recipe, isWritable ? m_workbench.sessionPath() : QString()}, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] { m_workbench.train(dialog->request()); });
  dialog->open();
}

void MainWindow::validateThis() {
  const auto& session = m_workbench.session();
  if (!session || !m_workbench.runB()) return;
  models::RunForm form = models::formOf(m_workbench.nextRequest());
  form.request.append = false;
  form.request.explored = session::lineageOf(*session);
  const QFileInfo file(m_workbench.sessionPath());
  form.sessionPath = qt(session::freeSessionPath(core(file.absolutePath()), core(file.completeBaseName() + QStringLiteral("-validation"))));
  m_runSheet->begin(RunSheet::Intent::validate, form);
  showPage(m_runSheet);
}

void MainWindow::onForm(const models::RunForm& form) {
  if (m_runSheet->intent() == RunSheet::Intent::explore) {
    m_cameFrom = m_runSheet;
    return m_workbench.runNew(models::requestOf(form));
  }
  m_pending = form;
  m_isRevising = false;
  std::vector<std::string> outputs;
  if (m_workbench.runB() && form.request.explored)
    for (const session::OutputSummary& output : m_workbench.runB()->run->outputs) outputs.push_back(output.name);
  m_criteria->begin(tr("For %1 on %2. Results stay covered until these limits are locked.").arg(QFileInfo(form.model).fileName(), QFileInfo(form.inputs).fileName()), outputs, core(form.decision));
  showPage(m_criteria);
}

void MainWindow::onLocked(const std::string& canonical) {
  if (m_isRevising) return writeRevision(canonical);
  session::RunRequest request = models::requestOf(m_pending);
  request.criteria = canonical;
  session::takeOver(criteriaOf(canonical), request.settings);
  m_cameFrom = m_runSheet;
  m_workbench.runNew(request);
}

void MainWindow::reviseCriteria() {
  const auto& session = m_workbench.session();
  if (!session || session->exploratory()) return;
  m_isRevising = true;
  m_criteria->beginRevision(tr("Revision %1 of the criteria of %2. Results on these samples are known by now: every verdict will say so.").arg(session->criteria.size() + 1).arg(qt(session->title)), session->criteria.back().canonical);
  showPage(m_criteria);
}

void MainWindow::writeRevision(const std::string& canonical) {
  bool isGiven = false;
  const QString reason = QInputDialog::getText(this, tr("Revise the criteria"), tr("Why are they revised? (stands in every verdict's history)"), QLineEdit::Normal, {}, &isGiven);
  if (isGiven) m_workbench.reviseCriteria(canonical, reason);
  leaveSheet();
}

void MainWindow::useFiles(const QStringList& paths) {
  const models::DropPlan plan = models::dropPlan(paths);
  if (!plan.session.isEmpty()) return mayLeave() ? openSession(plan.session) : void();
  if (plan.isEmpty())
    return m_message->showProblem(tr("%1: neither session, model nor inputs; a model is a TorchScript file (.ts, .pt), \"Export from Python…\" on the run sheet writes one").arg(paths.value(0)));
  if (!plan.recipe.isEmpty()) return train(plan.recipe);
  if (m_workbench.isRunning()) return m_message->showProblem(tr("A run is going on; drop the files again when it has ended"));
  if (page() != m_runSheet) newRun(false);
  for (const auto& [field, path] : {std::pair{RunField::model, plan.model}, {RunField::inputs, plan.inputs}, {RunField::labels, plan.labels}, {RunField::classNames, plan.classNames}})
    if (!path.isEmpty()) m_runSheet->setPath(field, path);
  m_status->setText(plan.text());
}

void MainWindow::locate(const QString& path) {
  const QString found = QFileDialog::getOpenFileName(this, tr("Where is %1 now?").arg(QFileInfo(path).fileName()), QFileInfo(path).absolutePath(), tr("Ulpscope sessions (*.ulps)"));
  if (found.isEmpty()) return;
  m_recentSessions.removeAll(path);
  open(found);
}

// Another session takes the place of this one: what was chosen in it and not run would go.
bool MainWindow::mayLeave() { return !m_workbench.isStale() || m_confirmClose({tr("a changed policy that was not run")}); }

QStringList MainWindow::unsaved() const {
  QStringList lost;
  if (m_workbench.isRunning()) lost << (m_workbench.isScanning() ? tr("the scan that goes on") : tr("the run that goes on"));
  if (m_criteria->isChanged()) lost << tr("criteria that were neither locked nor saved");
  if (m_workbench.isStale()) lost << tr("a changed policy that was not run");
  return lost;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const QStringList lost = unsaved();
  if (!lost.isEmpty() && !m_confirmClose(lost)) return event->ignore();
  if (m_workbench.isRunning()) m_workbench.cancel();
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QStringList paths = localFiles(event->mimeData());
  if (paths.isEmpty()) return;
  const models::DropPlan plan = models::dropPlan(paths);
  m_status->setText(plan.isEmpty() ? tr("Neither session, model nor inputs") : tr("Drop to use: %1").arg(plan.text()));
  event->acceptProposedAction();
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent* event) {
  QMainWindow::dragLeaveEvent(event);
  m_status->clear();
}

void MainWindow::dropEvent(QDropEvent* event) { useFiles(localFiles(event->mimeData())); }

}  // namespace ulpscope::views
