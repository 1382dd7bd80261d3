#include "widgets/views/main_window.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"
#include "widgets/plots/icons.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/criteria_sheet.h"
#include "widgets/views/export_desk.h"
#include "widgets/views/findings_panel.h"
#include "widgets/views/heatmap_panel.h"
#include "widgets/views/inspector_panel.h"
#include "widgets/views/message_bar.h"
#include "widgets/views/modules_panel.h"
#include "widgets/views/run_bar.h"
#include "widgets/views/run_sheet.h"
#include "widgets/views/scan_controls.h"
#include "widgets/views/session_bar.h"
#include "widgets/views/shortcuts_dialog.h"
#include "widgets/views/start_page.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/training_panel.h"

#include <QAbstractItemView>
#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ulpscope::views {
namespace {

using models::qt;

constexpr int kMostRecent = 8;
constexpr int kIcon = 18;

QString deviceText(const session::RunRecord& run) {
  return QStringLiteral("%1 · %2 %3 · policy %4 · seed %5")
      .arg(qt(run.settings.device).toUpper(), models::lowFormat(run), qt(session::name(run.settings.mode)), qt(run.policyTable)).arg(run.settings.seed);
}

// A pane that takes no keys itself hands them to its table, or else to the first that takes some.
void focusIn(QWidget* pane) {
  QWidget* best = pane->focusPolicy() == Qt::NoFocus ? nullptr : pane;
  for (QWidget* child : pane->findChildren<QWidget*>()) {
    if (best == pane || !child->isVisibleTo(pane) || !child->isEnabled() || (child->focusPolicy() & Qt::TabFocus) == 0) continue;
    const bool isTable = qobject_cast<QAbstractItemView*>(child) != nullptr;
    if (best == nullptr || (isTable && qobject_cast<QAbstractItemView*>(best) == nullptr)) best = child;
  }
  if (best != nullptr) best->setFocus(Qt::ShortcutFocusReason);
}

}  // namespace

MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent), m_workbench(options.demoSessionFolder), m_recentSessions(options.recentSessions) {
  setWindowTitle(tr("Ulpscope"));
  setAcceptDrops(true);
  makeCentral();
  makeDocks();
  makeActions();
  makeMenus(options.theme);
  makeToolBars();
  connectWorkbench();
  connectPages();
  resize(1500, 980);
  resetLayout();
  refreshIcons();
  refreshActions();
  refreshRecentMenu();
}

// Tabs and docks tell of their end as of any change, and by then what would listen is half gone.
MainWindow::~MainWindow() {
  for (QObject* teller : std::initializer_list<QObject*>{m_findings, m_findings->training(), m_docks->at(DockLayout::kFindings)->toggleViewAction()}) teller->disconnect(this);
}

void MainWindow::makeCentral() {
  m_message = new MessageBar(this);
  m_runBar = new RunBar(m_workbench, this);
  m_start = new StartPage(this);
  m_heatmap = new HeatmapPanel(m_workbench, this);
  m_runSheet = new RunSheet(m_workbench, this);
  m_criteria = new CriteriaSheet(this);
  m_stack = new QStackedWidget(this);
  for (QWidget* page : std::initializer_list<QWidget*>{m_start, m_heatmap, m_runSheet, m_criteria}) m_stack->addWidget(page);
  auto* central = new QWidget(this);
  auto* layout = new QVBoxLayout(central);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_message);
  layout->addWidget(m_sessionBar = new SessionBar(m_workbench.desk(), this));
  layout->addWidget(m_runBar);
  layout->addWidget(m_stack, 1);
  setCentralWidget(central);
  m_device = new QLabel(this);
  m_status = new QLabel(this);
  m_status->setTextFormat(Qt::PlainText);
  m_status->setAccessibleName(tr("Status"));
  m_status->setMinimumWidth(10);
  m_device->setMinimumWidth(10);
  m_device->setContentsMargins(8, 0, 0, 0);
  statusBar()->addWidget(m_device);
  statusBar()->addWidget(m_status, 1);
  m_status->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
}

void MainWindow::makeDocks() {
  m_modules = new ModulesPanel(m_workbench, this);
  m_inspector = new InspectorPanel(m_workbench, this);
  m_findings = new FindingsPanel(m_workbench, this);
  m_docks = new DockLayout(this, m_stack);
  m_docks->add(QStringLiteral("modules"), tr("Modules"), m_modules);
  m_docks->add(QStringLiteral("inspector"), tr("Inspector"), m_inspector);
  m_docks->add(QStringLiteral("findings"), tr("Findings"), m_findings);
  connect(m_docks->at(DockLayout::kFindings)->toggleViewAction(), &QAction::toggled, this, &MainWindow::fitToContent);
}

// Where the toolbar's words do not fit, its icons do, and their tooltips say the rest.
void MainWindow::fitToolBar() {
  const bool hasWords = m_tools->toolButtonStyle() == Qt::ToolButtonTextBesideIcon;
  if (hasWords) m_toolsWidth = m_tools->sizeHint().width();
  if (hasWords == (m_toolsWidth <= width())) return;
  m_tools->setToolButtonStyle(hasWords ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
  for (const char* name : {"undo", "redo", "previous", "next"})
    if (auto* button = qobject_cast<QToolButton*>(m_tools->widgetForAction(m_actions.at(QLatin1String(name))))) button->setToolButtonStyle(Qt::ToolButtonIconOnly);
}

void MainWindow::focusPane(int step) {
  QList<QWidget*> panes;
  for (QWidget* pane : std::initializer_list<QWidget*>{m_modules->tree(), m_heatmap->heatmap(), m_findings->currentWidget(), m_inspector})
    if (pane->isVisibleTo(this)) panes << pane;
  if (panes.isEmpty()) return;
  const QWidget* focused = QApplication::focusWidget();
  int at = step > 0 ? -1 : 0;
  for (int i = 0; i < panes.size(); ++i)
    if (focused != nullptr && (panes[i] == focused || panes[i]->isAncestorOf(focused))) at = i;
  focusIn(panes[(at + step + panes.size()) % panes.size()]);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  fitToolBar();
  m_docks->fitToWidth();
}

QAction* MainWindow::addAction(const QString& name, const QString& text, const QKeySequence& keys, std::function<void()> triggered) {
  auto* action = new QAction(text, this);
  action->setShortcut(keys);
  action->setToolTip(tr("%1 (%2)").arg(QString(text).remove(u'&'), keys.toString(QKeySequence::NativeText)));
  connect(action, &QAction::triggered, this, std::move(triggered));
  m_actions[name] = action;
  m_actionOrder << action;
  return action;
}

void MainWindow::makeActions() {
  auto* exports = new ExportDesk(m_workbench, m_message, this);
  addAction(QStringLiteral("new"), tr("&New run…"), QKeySequence(tr("Ctrl+N")), [this] { newRun(false); });
  addAction(QStringLiteral("validate"), tr("&Validate a release…"), QKeySequence(tr("Ctrl+Shift+N")), [this] { newRun(true); });
  addAction(QStringLiteral("settings"), tr("Run with other &settings…"), QKeySequence(tr("Ctrl+R")), [this] { runWithOtherSettings(); });
  addAction(QStringLiteral("validateThis"), tr("Validate &this…"), QKeySequence(), [this] { validateThis(); });
  addAction(QStringLiteral("open"), tr("&Open session…"), QKeySequence(tr("Ctrl+O")), [this] { chooseSession(); });
  addAction(QStringLiteral("export"), tr("&Export report…"), QKeySequence(tr("Ctrl+E")), [this, exports] { exports->start(isCovered() ? ExportDesk::Results::covered : ExportDesk::Results::shown); });
  addAction(QStringLiteral("start"), tr("S&tart page"), QKeySequence(tr("Ctrl+Shift+Home")), [this] { page() == m_start ? showSession() : showStart(); });
  addAction(QStringLiteral("close"), tr("&Close session"), QKeySequence(tr("Ctrl+W")), [this] { mayLeave() ? closeSession() : void(); });
  addAction(QStringLiteral("quit"), tr("&Quit"), QKeySequence(tr("Ctrl+Q")), [this] { close(); });
  addAction(QStringLiteral("undo"), tr("&Undo"), QKeySequence(tr("Ctrl+Z")), [this] { undoStack().undo(); });
  addAction(QStringLiteral("redo"), tr("&Redo"), QKeySequence(tr("Ctrl+Shift+Z")), [this] { undoStack().redo(); });
  addAction(QStringLiteral("keep"), tr("&Keep in FP32"), QKeySequence(tr("Ctrl+K")), [this] { keepSelection(); });
  addAction(QStringLiteral("filter"), tr("&Filter modules"), QKeySequence(tr("Ctrl+F")), [this] {
    m_docks->at(DockLayout::kModules)->show();
    m_modules->filterField()->setFocus();
    m_modules->filterField()->selectAll();
  });
  addAction(QStringLiteral("run"), tr("&Re-run"), QKeySequence(tr("F5")), [this] { rerun(); });
  addAction(QStringLiteral("train"), tr("&Train…"), QKeySequence(tr("Ctrl+T")), [this] { train({}); });
  addAction(QStringLiteral("boundary"), tr("&Boundary scan…"), QKeySequence(tr("Ctrl+B")), [this] {
    m_docks->at(DockLayout::kFindings)->show();
    m_findings->setCurrentIndex(FindingsPanel::kBoundary);
    m_findings->boundary()->controls()->scanButton()->setFocus(Qt::ShortcutFocusReason);
  });
  addAction(QStringLiteral("cancel"), tr("&Cancel run"), QKeySequence(tr("Shift+F5")), [this] { m_workbench.cancel(); });
  addAction(QStringLiteral("first"), tr("First &non-finite"), QKeySequence(tr("Ctrl+F8")), [this] {
    m_findings->setCurrentIndex(FindingsPanel::kNonfinite);
    m_workbench.selectFirstNonfinite();
  });
  addAction(QStringLiteral("next"), tr("Ne&xt finding"), QKeySequence(tr("F8")), [this] { m_workbench.selectFinding(1); });
  addAction(QStringLiteral("previous"), tr("&Previous finding"), QKeySequence(tr("Shift+F8")), [this] { m_workbench.selectFinding(-1); });
  m_viewGroup = new QActionGroup(this);
  for (const auto& [name, sign, keys, view] : {std::tuple{"viewA", tr("A"), tr("Ctrl+1"), RunView::a}, std::tuple{"viewB", tr("B"), tr("Ctrl+2"), RunView::b},
                                               std::tuple{"viewDifference", tr("B − A"), tr("Ctrl+3"), RunView::difference}}) {
    QAction* action = addAction(QLatin1String(name), view == RunView::difference ? tr("Show the difference B − A") : tr("Show run %1").arg(sign), QKeySequence(keys), [this, v = view] { m_workbench.setView(v); });
    action->setIconText(sign);
    action->setCheckable(true);
    m_viewGroup->addAction(action);
  }
  addAction(QStringLiteral("showAll"), tr("Show &all"), QKeySequence(tr("Ctrl+0")), [this] { m_heatmap->heatmap()->showAll(); });
  addAction(QStringLiteral("zoomIn"), tr("Zoom &in"), QKeySequence(tr("Ctrl++")), [this] { m_heatmap->heatmap()->zoomBy(1.25); });
  addAction(QStringLiteral("zoomOut"), tr("Zoom &out"), QKeySequence(tr("Ctrl+-")), [this] { m_heatmap->heatmap()->zoomBy(0.8); });
  addAction(QStringLiteral("pane"), tr("Next &pane"), QKeySequence(tr("F6")), [this] { focusPane(1); });
  addAction(QStringLiteral("paneBack"), tr("Previous p&ane"), QKeySequence(tr("Shift+F6")), [this] { focusPane(-1); });
  addAction(QStringLiteral("keys"), tr("&Keys"), QKeySequence(tr("Ctrl+?")), [this] { showKeys(); });
}

void MainWindow::makeMenus(plots::ThemeChoice theme) {
  const auto fill = [this](QMenu* menu, const QStringList& names) {
    for (const QString& name : names) name.isEmpty() ? menu->addSeparator() : (menu->addAction(m_actions.at(name)), nullptr);
  };
  QMenu* file = menuBar()->addMenu(tr("&File"));
  fill(file, {QStringLiteral("new"), QStringLiteral("validate"), QString(), QStringLiteral("open")});
  m_recentMenu = file->addMenu(tr("Open &recent"));
  fill(file, {QStringLiteral("export"), QString(), QStringLiteral("start"), QStringLiteral("close"), QString(), QStringLiteral("quit")});
  fill(menuBar()->addMenu(tr("&Edit")), {QStringLiteral("undo"), QStringLiteral("redo"), QString(), QStringLiteral("keep"), QStringLiteral("filter")});
  QMenu* view = menuBar()->addMenu(tr("&View"));
  fill(view, {QStringLiteral("viewA"), QStringLiteral("viewB"), QStringLiteral("viewDifference"), QString(), QStringLiteral("showAll"), QStringLiteral("zoomIn"), QStringLiteral("zoomOut"), QString()});
  for (QDockWidget* dock : m_docks->all()) view->addAction(dock->toggleViewAction());
  view->addAction(tr("Reset &layout"), this, &MainWindow::resetLayout);
  fill(view, {QStringLiteral("pane"), QStringLiteral("paneBack")});
  view->addSeparator();
  QMenu* themes = view->addMenu(tr("&Theme"));
  auto* group = new QActionGroup(this);
  for (const plots::ThemeChoice choice : {plots::ThemeChoice::system, plots::ThemeChoice::light, plots::ThemeChoice::dark}) {
    QAction* action = themes->addAction(plots::name(choice));
    action->setCheckable(true);
    action->setChecked(choice == theme);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, choice] { emit themeChosen(choice); });
  }
  fill(menuBar()->addMenu(tr("&Run")), {QStringLiteral("run"), QStringLiteral("settings"), QStringLiteral("validateThis"), QStringLiteral("train"), QStringLiteral("boundary"), QStringLiteral("cancel"), QString(), QStringLiteral("first"), QStringLiteral("next"), QStringLiteral("previous")});
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  fill(help, {QStringLiteral("keys")});
  help->addAction(tr("&About Ulpscope"), this, &MainWindow::showAbout);
}

void MainWindow::makeToolBars() {
  QToolBar* bar = QMainWindow::addToolBar(tr("Tools"));
  bar->setObjectName(QStringLiteral("tools"));
  bar->setMovable(false);
  bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_tools = bar;
  const int icon = std::max(kIcon, fontMetrics().height());
  bar->setIconSize(QSize(icon, icon));
  const auto add = [this, bar](const QStringList& names) {
    for (const QString& name : names) {
      QAction* action = m_actions.at(name);
      bar->addAction(action);
      if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(action))) {
        button->setAccessibleName(action->text().remove(u'&'));
        button->setFocusPolicy(Qt::TabFocus);
      }
    }
    bar->addSeparator();
  };
  add({QStringLiteral("new"), QStringLiteral("open")});
  add({QStringLiteral("run"), QStringLiteral("cancel")});
  add({QStringLiteral("undo"), QStringLiteral("redo")});
  add({QStringLiteral("first"), QStringLiteral("previous"), QStringLiteral("next"), QStringLiteral("keep")});
  add({QStringLiteral("viewA"), QStringLiteral("viewB"), QStringLiteral("viewDifference")});
  for (const char* name : {"undo", "redo", "previous", "next"})
    if (auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(m_actions.at(QLatin1String(name))))) button->setToolButtonStyle(Qt::ToolButtonIconOnly);
  addToolBarBreak();
  QToolBar* strip = QMainWindow::addToolBar(tr("Steps"));
  strip->setObjectName(QStringLiteral("steps"));
  strip->setMovable(false);
  m_steps = new StepStrip(m_workbench, strip);
  m_steps->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  strip->addWidget(m_steps);
  m_stepBar = strip;
  strip->hide();
  for (QToolBar* toolBar : {bar, strip}) toolBar->toggleViewAction()->setEnabled(false);
}

void MainWindow::connectWorkbench() {
  connect(m_steps, &StepStrip::rerunClicked, this, &MainWindow::rerun);
  connect(m_steps, &StepStrip::criteriaClicked, this, [this] { showTab(FindingsPanel::kCriteria); });
  connect(m_steps, &StepStrip::runClicked, this, [this] { showTab(FindingsPanel::kRuns); });
  connect(m_steps, &StepStrip::findingClicked, this, [this] {
    const models::RunPointer& run = m_workbench.shownRun();
    showTab(run && run->run->nonfiniteOrigins.empty() && !run->run->flips.empty() ? FindingsPanel::kFlips : FindingsPanel::kNonfinite);
  });
  connect(m_findings, &QTabWidget::currentChanged, this, &MainWindow::fitToContent);
  connect(m_findings->training(), &TrainingPanel::standingChanged, this, &MainWindow::showStanding);
  connect(m_findings->training(), &TrainingPanel::moduleShown, this, [this] {
    m_docks->at(DockLayout::kModules)->show();
    m_docks->at(DockLayout::kModules)->raise();
  });
  connect(&m_workbench, &Workbench::sessionChanged, this, &MainWindow::onSessionChanged);
  for (const auto signal : {&Workbench::viewChanged, &Workbench::regionsChanged, &Workbench::runningChanged})
    connect(&m_workbench, signal, this, &MainWindow::refreshActions);
  connect(&m_workbench.selection(), &models::Selection::changed, this, &MainWindow::refreshActions);
  for (const QUndoStack* stack : {&m_workbench.undoStack(), &m_criteria->undoStack()}) connect(stack, &QUndoStack::indexChanged, this, &MainWindow::refreshActions);
  connect(&m_workbench, &Workbench::problem, m_message, qOverload<const QString&>(&MessageBar::showProblem));
  connect(&m_workbench, &Workbench::runFailed, this, [this](const QString& message) {
    m_message->showProblem(message, tr("Run again"), [this] { m_workbench.runAgain(); });
  });
  connect(&m_workbench, &Workbench::notice, m_status, &QLabel::setText);
  connect(m_heatmap, &HeatmapPanel::cellHovered, m_status, &QLabel::setText);
  connect(&m_workbench, &Workbench::liveChanged, this, [this] { m_heatmap->showLive(m_workbench.live().content()); });
  connect(&m_workbench, &Workbench::runningChanged, this, [this] {
    if (!m_workbench.isRunning() && !keepsCancelled()) m_heatmap->endLive();
  });
}

void MainWindow::onSessionChanged() {
  m_message->dropHint();
  if (!m_workbench.isRunning()) m_heatmap->endLive();  // of a cancelled run
  showResults();
  m_status->setText(m_findings->comparison());
  const models::RunPointer& run = m_workbench.runB();
  m_device->setText(run ? deviceText(*run->run) : QString());
  setWindowTitle(tr("%1 - Ulpscope").arg(QFileInfo(m_workbench.sessionPath()).fileName()));
  rememberSession(m_workbench.sessionPath());
  const QString id = models::qt(m_workbench.session()->id);
  const bool isOther = id != std::exchange(m_sessionId, id);
  if (isOther) m_modules->filterField()->clear();
  fitToContent();
  if (std::exchange(m_wantsTraining, false)) m_findings->setCurrentIndex(FindingsPanel::kTraining);
  else if (run) showFirstTab(isOther);
  else if (!m_workbench.session()->trainings.empty()) m_findings->setCurrentIndex(FindingsPanel::kTraining);
}

// A tab below; while the steps speak of a training, what they name stands in its tab.
void MainWindow::showTab(int tab) {
  m_docks->at(DockLayout::kFindings)->show();
  if (m_steps->speaksOfTraining()) {
    const bool isRun = tab == FindingsPanel::kRuns;
    tab = FindingsPanel::kTraining;
    m_findings->training()->pages()->setCurrentIndex(isRun ? TrainingPanel::kLedger : TrainingPanel::kFindings);
  }
  m_findings->setCurrentIndex(tab);
}

// A training has op sites to show only once the model was run: where it is looked at, it has the heatmap's room.
void MainWindow::fitToContent() {
  showStanding();
  if (!m_showsResults) return m_docks->hideAll();
  const auto& session = m_workbench.session();
  const bool onlyTrains = m_workbench.runB() == nullptr && (m_workbench.isTraining() || (session && !session->trainings.empty()));
  const bool isLive = (m_workbench.isRunning() && !m_workbench.isTraining() && !m_workbench.isScanning()) || m_heatmap->isLive();
  const bool needsRoom = m_findings->currentIndex() == FindingsPanel::kTraining || m_findings->currentIndex() == FindingsPanel::kBoundary;
  const bool isLookedAt = needsRoom && !m_docks->at(DockLayout::kFindings)->isHidden();
  m_docks->fitToContent(session != nullptr, !onlyTrains);
  m_docks->showMiddle(isLive || !(onlyTrains || isLookedAt));
}

// The steps speak of what is looked at.
void MainWindow::showStanding() {
  const auto& session = m_workbench.session();
  const bool isLookedAt = m_findings->currentIndex() == FindingsPanel::kTraining && !m_docks->at(DockLayout::kFindings)->isHidden();
  const bool isAlone = m_workbench.runB() == nullptr && session && !session->trainings.empty();
  if (!isLookedAt && !isAlone) return m_steps->setTraining(std::nullopt);
  models::TrainingStanding reading;
  reading.name = tr("being read");
  m_steps->setTraining(m_findings->training()->standing().value_or(reading));
}

// Whoever works on the runs of a session stays with them.
void MainWindow::showFirstTab(bool isOther) {
  if (!isOther && (m_findings->currentIndex() == FindingsPanel::kRuns || m_findings->currentIndex() == FindingsPanel::kBoundary)) return;
  const session::RunRecord& run = *m_workbench.runB()->run;
  if (run.verdict && m_workbench.runA() == nullptr)
    m_findings->setCurrentIndex(FindingsPanel::kCriteria);
  else if (m_workbench.runA() != nullptr && !isOther)
    m_findings->setCurrentIndex(FindingsPanel::kRuns);
  else
    m_findings->setCurrentIndex(run.nonfiniteOrigins.empty() && run.unexplained() == nullptr ? FindingsPanel::kFlips : FindingsPanel::kNonfinite);
}

void MainWindow::refreshActions() {
  const bool hasRun = m_workbench.runB() != nullptr;
  const bool running = m_workbench.isRunning();
  const bool hasPair = m_workbench.runA() != nullptr;
  const auto enable = [this](const char* name, bool enabled) { m_actions.at(QLatin1String(name))->setEnabled(enabled); };
  const bool seen = page() == m_heatmap;
  for (const char* name : {"new", "validate", "train"}) enable(name, !running);
  const QString noRerun = m_workbench.whyNoRerun();
  const bool canRerun = hasRun && !running && seen && noRerun.isEmpty();
  enable("settings", canRerun);
  enable("validateThis", canRerun && m_workbench.session()->exploratory());
  enable("run", canRerun);
  m_actions.at(QStringLiteral("run"))->setToolTip(noRerun.isEmpty() ? tr("Re-run (F5)") : tr("Re-run (F5): %1").arg(noRerun));
  enable("cancel", running && !m_workbench.isCancelling());
  enable("export", m_workbench.session() != nullptr);
  enable("close", m_workbench.session() != nullptr && !running);
  const bool mayUndo = seen || page() == m_criteria;  // what is undone is to be seen
  enable("undo", mayUndo && undoStack().canUndo());
  enable("redo", mayUndo && undoStack().canRedo());
  const auto& selected = m_workbench.selection().modulePath();
  const bool isKept = selected && (m_workbench.regions().names(*selected, models::RegionKind::inputsToFp32) || m_workbench.regions().names(*selected, models::RegionKind::inputsAsTheyAre));
  m_actions.at(QStringLiteral("keep"))->setText(isKept ? tr("Put bac&k under autocast") : tr("&Keep in FP32"));
  m_actions.at(QStringLiteral("keep"))->setToolTip((isKept ? tr("Put the selected module back under autocast (Ctrl+K)") : tr("Keep the selected module in FP32: %1 (Ctrl+K)").arg(models::regionMeaning(models::RegionKind::inputsToFp32))));
  m_actions.at(QStringLiteral("keep"))->setIconText(isKept ? tr("Back to autocast") : tr("Keep in FP32"));
  enable("keep", hasRun && seen && m_workbench.selection().modulePath().has_value());
  enable("boundary", m_workbench.session() != nullptr && seen);
  for (const char* name : {"first", "next", "previous", "filter", "showAll", "zoomIn", "zoomOut", "viewB"}) enable(name, hasRun && seen);
  for (const char* name : {"pane", "paneBack"}) enable(name, m_workbench.session() && seen);
  for (const char* name : {"viewA", "viewDifference"}) enable(name, hasPair && seen);
  m_actions.at(QStringLiteral("undo"))->setToolTip(tr("Undo: %1 (Ctrl+Z)").arg(undoStack().undoText()));
  m_actions.at(QStringLiteral("redo"))->setToolTip(tr("Redo: %1 (Ctrl+Shift+Z)").arg(undoStack().redoText()));
  const QString why = hasPair ? QString() : tr(": needs a second run; change the policy and press F5");
  m_actions.at(QStringLiteral("viewA"))->setToolTip(tr("Show run A, the one compared with (Ctrl+1)") + why);
  m_actions.at(QStringLiteral("viewB"))->setToolTip(tr("Show run B (Ctrl+2)"));
  m_actions.at(QStringLiteral("viewDifference"))->setToolTip(tr("Show B − A in the same colour range (Ctrl+3)") + why);
  const char* current = m_workbench.view() == RunView::a ? "viewA" : m_workbench.view() == RunView::b ? "viewB" : "viewDifference";
  m_actions.at(QLatin1String(current))->setChecked(true);
  m_start->setBusy(running);
}

void MainWindow::refreshIcons() {
  const plots::Theme& theme = plots::themeOf(this);
  const QColor disabled = palette().color(QPalette::Disabled, QPalette::ButtonText);
  for (const char* name : {"new", "validate", "validateThis", "open", "run", "cancel", "undo", "redo", "first", "previous", "next", "keep"})
    m_actions.at(QLatin1String(name))->setIcon(plots::themedIcon(QLatin1String(QLatin1String(name).startsWith(QLatin1String("validate")) ? "criteria" : name), theme.text, disabled));
  m_heatmap->refreshIcons();
  m_findings->refreshIcons();
  m_message->refreshIcons();
  m_start->refreshTheme();
  // They make their labels anew, and Qt is walking over all widgets now.
  QTimer::singleShot(0, this, [this] {
    m_inspector->refreshTheme();
    m_runSheet->refreshTheme();
    m_criteria->refreshTheme();
  });
}

void MainWindow::selectSite(const QString& modulePath, std::int64_t sample) {
  const models::RunPointer& run = m_workbench.shownRun();
  if (run) m_workbench.selection().select(modulePath, run->worstSite(modulePath), sample);
}

QUndoStack& MainWindow::undoStack() { return page() == m_criteria ? m_criteria->undoStack() : m_workbench.undoStack(); }

QWidget* MainWindow::page() const { return m_stack->currentWidget(); }

void MainWindow::keepSelection() {
  if (const auto& path = m_workbench.selection().modulePath()) toggleFp32(*path);
}

void MainWindow::open(const QString& path) {
  if (path.endsWith(QStringLiteral(".ulps"))) return mayLeave() ? openSession(path) : void();
  useFiles({path});
}

void MainWindow::chooseSession() {
  const QString folder = m_recentSessions.isEmpty() ? QString() : QFileInfo(m_recentSessions.front()).absolutePath();
  const QString path = QFileDialog::getOpenFileName(this, tr("Open session"), folder, tr("Ulpscope sessions (*.ulps)"));
  if (!path.isEmpty()) open(path);
}

void MainWindow::closeSession() {
  m_workbench.closeSession();
  showPage(m_start);
  setWindowTitle(tr("Ulpscope"));
  m_device->clear();
  m_status->clear();
  m_start->setRecentSessions(m_recentSessions);
}

void MainWindow::rememberSession(const QString& path) {
  m_recentSessions.removeAll(path);
  m_recentSessions.prepend(path);
  while (m_recentSessions.size() > kMostRecent) m_recentSessions.removeLast();
  refreshRecentMenu();
  emit recentSessionsChanged(m_recentSessions);
}

void MainWindow::refreshRecentMenu() {
  m_recentMenu->clear();
  m_recentMenu->setEnabled(!m_recentSessions.isEmpty());
  for (const QString& path : m_recentSessions) {
    QAction* action = m_recentMenu->addAction(path, this, [this, path] { open(path); });
    action->setEnabled(QFileInfo::exists(path));
  }
  m_start->setRecentSessions(m_recentSessions);
}

void MainWindow::showKeys() {
  ShortcutsDialog dialog(m_actionOrder, this);
  dialog.exec();
}

void MainWindow::showAbout() {
  QMessageBox::about(this, tr("About Ulpscope"),
                     tr("Ulpscope %1\n\nShows where a PyTorch model breaks under automatic mixed precision.\n\nGPL-3.0-or-later").arg(QStringLiteral(ULPSCOPE_VERSION)));
}

QString MainWindow::problem() const { return m_message->message(); }
QString MainWindow::statusText() const { return m_status->text(); }

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && !m_actions.empty()) refreshIcons();
}

void MainWindow::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  if (m_wasShown) return;
  m_wasShown = true;
  m_start->setRecentSessions(m_recentSessions);
}

}  // namespace ulpscope::views
