#include "widgets/views/findings_panel.h"

#include "widgets/views/benchmark_panel.h"
#include "widgets/views/boundary_panel.h"
#include "widgets/views/criteria_panel.h"
#include "widgets/views/flips_panel.h"
#include "widgets/views/headroom_panel.h"
#include "widgets/views/nonfinite_panel.h"
#include "widgets/views/operators_panel.h"
#include "widgets/views/runs_panel.h"
#include "widgets/views/training_panel.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QTabBar>
#include <QTime>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

constexpr int kLogLines = 5000;
constexpr QSize kLeast{420, 150};

// A tab that asks for no more than a small screen has: what needs more, as in large fonts, scrolls.
class Page : public QScrollArea {
 public:
  Page(QWidget* content, QWidget* parent) : QScrollArea(parent) {
    setWidget(content);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
  }
  QSize minimumSizeHint() const override { return widget()->minimumSizeHint().boundedTo(kLeast); }
};

}  // namespace

FindingsPanel::FindingsPanel(Workbench& workbench, QWidget* parent) : QTabWidget(parent), m_workbench(workbench) {
  setDocumentMode(true);
  setAccessibleName(tr("Findings"));
  tabBar()->setAccessibleName(tr("Findings"));
  m_flips = new FlipsPanel(workbench, this);
  m_boundary = new BoundaryPanel(workbench, this);
  m_nonfinite = new NonfinitePanel(workbench, this);
  m_headroom = new HeadroomPanel(workbench, this);
  m_criteria = new CriteriaPanel(workbench, this);
  m_runs = new RunsPanel(workbench, this);
  m_benchmark = new BenchmarkPanel(workbench, this);
  m_training = new TrainingPanel(workbench, this);
  m_operators = new OperatorsPanel(workbench, this);
  addTab(new Page(m_flips, this), tr("Flips"));
  addTab(new Page(m_boundary, this), tr("Boundary"));
  addTab(new Page(m_nonfinite, this), tr("Non-finite"));
  addTab(new Page(m_headroom, this), tr("Headroom"));
  addTab(new Page(m_criteria, this), tr("Criteria"));
  addTab(new Page(m_runs, this), tr("Runs"));
  addTab(new Page(m_benchmark, this), tr("Benchmark"));
  addTab(new Page(m_training, this), tr("Training"));
  addTab(new Page(m_operators, this), tr("Operators"));
  addTab(makeLog(), tr("Log"));
  connect(&m_workbench, &Workbench::sessionChanged, this, &FindingsPanel::refreshCounts);
  connect(&m_workbench, &Workbench::viewChanged, this, &FindingsPanel::refreshCounts);
  connect(&m_workbench, &Workbench::runsChanged, this, &FindingsPanel::refreshCounts);
  connect(&m_workbench, &Workbench::runningChanged, this, &FindingsPanel::refreshCounts);
  connect(&m_workbench, &Workbench::logged, this, &FindingsPanel::log);
  refreshCounts();
}

QWidget* FindingsPanel::makeLog() {
  m_log = new QPlainTextEdit(this);
  m_log->setReadOnly(true);
  m_log->setMaximumBlockCount(kLogLines);
  m_log->setAccessibleName(tr("Log of engine and model"));
  m_log->setPlaceholderText(tr("What the engine and the model print stands here."));
  m_log->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_log->setTabChangesFocus(true);
  auto* page = new QWidget(this);
  m_copyLog = new QPushButton(tr("Copy the log"), page);
  connect(m_copyLog, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(logText()); });
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addWidget(m_copyLog, 0, Qt::AlignRight);
  layout->addWidget(m_log, 1);
  return page;
}

// What came at once has one time, on each of its lines.
void FindingsPanel::log(const QString& text) {
  const QString time = QTime::currentTime().toString(QStringLiteral("HH:mm:ss"));
  for (const QString& line : text.split(u'\n')) m_log->appendPlainText(time + QStringLiteral("  ") + line);
}

void FindingsPanel::refreshIcons() { m_nonfinite->refreshIcons(); }

void FindingsPanel::refreshCounts() {
  const models::RunPointer& run = m_workbench.shownRun();
  setTabText(kFlips, tr("Flips (%1)").arg(run ? run->run->flips.size() : 0));
  setTabText(kNonfinite, tr("Non-finite (%1)").arg(run ? run->run->nonfiniteOrigins.size() : 0));
  const std::size_t scans = m_workbench.session() ? m_workbench.session()->scans.size() : 0;
  setTabText(kBoundary, scans > 0 ? tr("Boundary (%1)").arg(scans) : tr("Boundary"));
  const std::size_t trainings = m_workbench.session() ? m_workbench.session()->trainings.size() : 0;
  setTabVisible(kTraining, trainings > 0 || m_workbench.isTraining());
  setTabText(kTraining, trainings > 1 ? tr("Training (%1)").arg(trainings) : tr("Training"));
  setTabText(kRuns, tr("Runs (%1)").arg(m_workbench.session() ? m_workbench.session()->runs.size() : 0));
}

QString FindingsPanel::diagnosis() const { return m_nonfinite->diagnosis(); }
QString FindingsPanel::comparison() const { return m_runs->comparison(); }
QTableView* FindingsPanel::flipTable() const { return m_flips->table(); }
QTableView* FindingsPanel::nonfiniteTable() const { return m_nonfinite->table(); }
QTableView* FindingsPanel::runTable() const { return m_runs->table(); }
QString FindingsPanel::logText() const { return m_log->toPlainText(); }

}  // namespace ulpscope::views
