#include "widgets/views/findings_panel.h"

#include "widgets/views/criteria_panel.h"
#include "widgets/views/flips_panel.h"
#include "widgets/views/headroom_panel.h"
#include "widgets/views/nonfinite_panel.h"
#include "widgets/views/runs_panel.h"

#include <QPlainTextEdit>
#include <QTabBar>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

constexpr int kLogLines = 5000;

}  // namespace

FindingsPanel::FindingsPanel(Workbench& workbench, QWidget* parent) : QTabWidget(parent), m_workbench(workbench) {
  setDocumentMode(true);
  setAccessibleName(tr("Findings"));
  tabBar()->setAccessibleName(tr("Findings"));
  m_flips = new FlipsPanel(workbench, this);
  m_nonfinite = new NonfinitePanel(workbench, this);
  m_headroom = new HeadroomPanel(workbench, this);
  m_criteria = new CriteriaPanel(workbench, this);
  m_runs = new RunsPanel(workbench, this);
  addTab(m_flips, tr("Flips"));
  addTab(m_nonfinite, tr("Non-finite"));
  addTab(m_headroom, tr("Headroom"));
  addTab(m_criteria, tr("Criteria"));
  addTab(m_runs, tr("Runs"));
  addTab(makeLog(), tr("Log"));
  connect(&m_workbench, &Workbench::sessionChanged, this, &FindingsPanel::refreshCounts);
  connect(&m_workbench, &Workbench::viewChanged, this, &FindingsPanel::refreshCounts);
  connect(&m_workbench, &Workbench::runsChanged, this, &FindingsPanel::refreshCounts);
  connect(&m_workbench, &Workbench::logged, m_log, &QPlainTextEdit::appendPlainText);
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

void FindingsPanel::refreshIcons() { m_nonfinite->refreshIcons(); }

void FindingsPanel::refreshCounts() {
  const models::RunPointer& run = m_workbench.shownRun();
  setTabText(kFlips, tr("Flips (%1)").arg(run ? run->run->flips.size() : 0));
  setTabText(kNonfinite, tr("Non-finite (%1)").arg(run ? run->run->nonfiniteOrigins.size() : 0));
  setTabText(kRuns, tr("Runs (%1)").arg(m_workbench.session() ? m_workbench.session()->runs.size() : 0));
}

QString FindingsPanel::diagnosis() const { return m_nonfinite->diagnosis(); }
QString FindingsPanel::comparison() const { return m_runs->comparison(); }
QTableView* FindingsPanel::flipTable() const { return m_flips->table(); }
QTableView* FindingsPanel::nonfiniteTable() const { return m_nonfinite->table(); }
QTableView* FindingsPanel::runTable() const { return m_runs->table(); }
QString FindingsPanel::logText() const { return m_log->toPlainText(); }

}  // namespace ulpscope::views
