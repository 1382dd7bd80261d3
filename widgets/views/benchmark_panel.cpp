#include "widgets/views/benchmark_panel.h"

#include "core/analysis/benchmark_admission.h"
#include "core/report/benchmark_text.h"
#include "widgets/models/text.h"
#include "widgets/views/run_desk.h"
#include "widgets/views/texts.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::core;
using models::qt;

constexpr double kHeadlineScale = 1.1;

// Of the criteria that are locked now; the stored verdict may be by earlier ones.
bool isByEarlierCriteria(const session::Session& session, const session::RunRecord& run) {
  return !session.exploratory() && run.verdict && (run.verdict->revision != session.criteria.back().number || run.verdict->sha256 != session.criteria.back().sha256);
}

QString sentence(const base::Error& error) {
  const QString first = BenchmarkPanel::tr("Off: %1 %2").arg(qt(error.which), qt(error.what));
  return error.remedy.empty() ? first + u'.' : QStringLiteral("%1; %2.").arg(first, qt(error.remedy));
}

}  // namespace

BenchmarkPanel::BenchmarkPanel(Workbench& workbench, QWidget* parent)
    : QWidget(parent), m_workbench(workbench), m_state(makeLine(this)), m_headline(makeText({}, kHeadlineScale, true, this)), m_layout(new QGridLayout), m_run(new QPushButton(tr("Measure"), this)),
      m_cancel(new QPushButton(tr("Cancel"), this)) {
  m_state->setAccessibleName(tr("Whether it can be measured"));
  m_headline->setAccessibleName(tr("What was measured last"));
  m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_run->setToolTip(tr("Time forwards in FP32 and under autocast, without interception, and judge the run again after"));
  auto* top = new QHBoxLayout;
  top->addWidget(m_state, 1);
  top->addWidget(m_run, 0, Qt::AlignTop);
  top->addWidget(m_cancel, 0, Qt::AlignTop);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 6, 8, 4);
  layout->addLayout(top);
  layout->addWidget(m_headline);
  layout->addLayout(m_layout);
  layout->addStretch(1);
  connect(m_run, &QPushButton::clicked, this, &BenchmarkPanel::start);
  connect(m_cancel, &QPushButton::clicked, &m_job, &jobs::BenchmarkJob::cancel);
  connect(&m_job, &jobs::BenchmarkJob::logged, &workbench, &Workbench::logged);
  connect(&m_job, &jobs::BenchmarkJob::progressed, this, [this](const base::Progress& progress) {
    m_stage = progress.total > 0 ? tr("%1, %2 of %3 samples").arg(qt(progress.stage)).arg(progress.done).arg(progress.total) : qt(progress.stage);
    refreshState();
  });
  connect(&m_job, &jobs::BenchmarkJob::measured, this, [this](const session::Benchmark& benchmark, const QString& whyNotStored) {
    m_unstored = benchmark;
    finish(whyNotStored.isEmpty() ? QString() : tr("Measured, and not stored: %1").arg(whyNotStored));
    m_workbench.desk().checkFile();
  });
  connect(&m_job, &jobs::BenchmarkJob::withheld, this, [this](const QString& why) { finish(tr("No speed is told: %1.").arg(why)); });
  connect(&m_job, &jobs::BenchmarkJob::failed, this, [this](const base::Error& error) {
    finish(error.kind == base::ErrorKind::cancelled ? tr("Cancelled: nothing was measured.") : tr("Nothing was measured: %1").arg(qt(error.message())));
  });
  for (const auto signal : {&Workbench::sessionChanged, &Workbench::viewChanged, &Workbench::regionsChanged, &Workbench::runsChanged}) connect(&workbench, signal, this, &BenchmarkPanel::refresh);
  connect(&workbench, &Workbench::runningChanged, this, [this] {
    if (m_workbench.isRunning() && m_job.isRunning()) m_job.cancel();  // it would time both
    refresh();
  });
  refresh();
}

QString BenchmarkPanel::whyOff() const {
  const models::RunPointer& shown = m_workbench.shownRun();
  if (!shown && m_workbench.session() && !m_workbench.session()->trainings.empty()) return tr("Off: there is no run. `ulpscope bench %1 --train` times the step of the latest training.").arg(m_workbench.sessionPath());
  if (!shown || !m_workbench.session()) return tr("Off: there is no run. Open a session, or run a model.");
  if (m_workbench.isRunning()) return tr("Off: a run goes on, and would be timed too. Wait for its end.");
  const session::RunRecord& run = *shown->run;
  const std::string which = core(shown->shortName());
  if (const auto refusal = analysis::cannotBeTimed(run.settings, which)) return sentence(refusal->error);
  if (shown == m_workbench.runB() && m_workbench.isStale()) return tr("Off: the FP32 choice is no longer that of %1, and what is chosen now has not been judged. Run it (F5), or undo the choice (Ctrl+Z).").arg(shown->shortName());
  const session::Session& session = *m_workbench.session();
  if (isByEarlierCriteria(session, run)) return tr("Off: the criteria were revised since %1 was judged. Run it again (F5) to be judged by them.").arg(shown->shortName());
  const auto refusal = analysis::notPassed(session.exploratory() ? std::nullopt : run.verdict, which);
  return refusal ? sentence(refusal->error) : QString();
}

QString BenchmarkPanel::shownKey() const {
  const models::RunPointer& shown = m_workbench.shownRun();
  return shown ? m_workbench.sessionPath() + u'\n' + shown->shortName() : QString();
}

QString BenchmarkPanel::state() const { return m_state->text(); }
QString BenchmarkPanel::headline() const { return m_headline->isHidden() ? QString() : m_headline->text(); }

QString BenchmarkPanel::details() const {
  const auto benchmark = shownBenchmark();
  return benchmark ? qt(report::benchmarkText(*benchmark)).section(u'\n', 1) : QString();
}

void BenchmarkPanel::start() {
  const models::RunPointer& shown = m_workbench.shownRun();
  if (m_job.isRunning() || !whyOff().isEmpty()) return;
  protocol::BenchmarkRequest request;
  request.sessionPath = core(m_workbench.sessionPath());
  request.runId = shown->run->id();
  m_timed = shownKey();
  m_outcome.clear();
  m_unstored.reset();
  m_stage = tr("starting");
  m_job.start(request);
  refresh();
}

void BenchmarkPanel::finish(const QString& notice) {
  m_outcome = notice;
  m_stage.clear();
  refresh();
}

// The latest of the shown run, or of a training where there are no runs; one that no session holds goes before.
std::optional<session::Benchmark> BenchmarkPanel::shownBenchmark() const {
  const models::RunPointer& shown = m_workbench.shownRun();
  if (!m_workbench.session()) return std::nullopt;
  if (shown && m_unstored && m_timed == shownKey()) return m_unstored;
  const std::string runId = shown ? shown->run->id() : std::string();
  const auto& all = m_workbench.session()->benchmarks;
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const session::Benchmark& b) { return b.runId == runId; });
  return found == all.rend() ? std::nullopt : std::optional(*found);
}

void BenchmarkPanel::refreshResult() {
  delete m_rows;
  m_rows = new QWidget(this);
  m_layout->addWidget(m_rows, 0, 0);
  const auto benchmark = shownBenchmark();
  m_headline->setVisible(benchmark.has_value());
  if (!benchmark) return;
  m_headline->setText(qt(report::benchmarkHeadline(*benchmark)));
  auto* grid = new QGridLayout(m_rows);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setColumnStretch(1, 1);
  auto add = [&, row = 0](const QString& name, const QString& text) mutable {
    auto* value = makeLine(m_rows);
    value->setText(text);
    value->setAccessibleName(name);
    auto* label = new QLabel(name, m_rows);
    label->setBuddy(value);
    grid->addWidget(label, row, 0, Qt::AlignTop);
    grid->addWidget(value, row++, 1);
  };
  for (const std::string& warning : benchmark->warnings) add(tr("Note"), qt(warning));  // before what it speaks against
  for (const report::BenchmarkRow& row : report::benchmarkRows(*benchmark)) add(qt(row.name), qt(row.text));
}

void BenchmarkPanel::refreshState() {
  const QString why = whyOff();
  m_run->setEnabled(why.isEmpty() && !m_job.isRunning());
  m_run->setVisible(!m_job.isRunning());
  m_cancel->setVisible(m_job.isRunning());
  if (m_job.isRunning())
    m_state->setText(tr("Measuring %1: %2. Let the machine rest meanwhile.").arg(m_timed.section(u'\n', -1), m_stage));
  else if (!why.isEmpty())
    m_state->setText(why);
  else if (!m_outcome.isEmpty() && m_timed == shownKey())
    m_state->setText(m_outcome);
  else
    m_state->setText(tr("Ready: %1 passes its criteria and may be timed: %2 pairs of forwards without interception, peak memory of each side in a process of its own, then its criteria again.")
                         .arg(m_workbench.shownRun()->shortName())
                         .arg(protocol::BenchmarkRequest{}.pairs));
}

void BenchmarkPanel::refresh() {
  refreshState();
  refreshResult();
}

}  // namespace ulpscope::views
