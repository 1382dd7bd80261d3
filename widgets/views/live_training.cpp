#include "widgets/views/live_training.h"

#include "core/session/recipe.h"

#include <algorithm>

namespace ulpscope::views {
namespace {

constexpr int kIntervalMs = 250;
constexpr std::size_t kLinesPerMs = 10;  // a long ledger is shown less often

}  // namespace

LiveTraining::LiveTraining(Workbench& workbench, QObject* parent) : QObject(parent), m_workbench(workbench) {
  m_timer.setSingleShot(true);
  connect(&m_timer, &QTimer::timeout, this, &LiveTraining::changed);
  connect(&workbench, &Workbench::runningChanged, this, &LiveTraining::onRunning);
  connect(&workbench.engine(), &jobs::EngineProcess::ledgerTold, this, &LiveTraining::add);
}

models::TrainingPointer LiveTraining::snapshot() const { return m_training ? std::make_shared<const session::Training>(*m_training) : nullptr; }

int LiveTraining::runToShow() const {
  const int last = m_training ? static_cast<int>(m_training->runs.size()) - 1 : -1;
  return last > 0 && m_training->runs.back().name == "fp32" ? last - 1 : last;
}

void LiveTraining::onRunning() {
  if (m_workbench.isTraining() == isOn()) return;
  m_timer.stop();
  if (isOn()) {
    m_training.reset();
    return emit ended();
  }
  m_training = std::make_unique<session::Training>();
  if (const auto& request = m_workbench.lastTraining())
    if (const auto recipe = session::readRecipe(request->recipePath); recipe.ok()) m_training->recipe = recipe->canonical;
  emit begun();
}

void LiveTraining::add(const protocol::LedgerUpdate& update) {
  if (!m_training) return;
  if (m_training->runs.empty() || m_training->runs.back().name != update.run) {
    m_training->runs.emplace_back();
    m_training->runs.back().name = update.run;
  }
  session::Trajectory& run = m_training->runs.back();
  run.ledger.push_back(update.line);
  run.steps = update.line.step + 1;
  run.appliedUpdates = std::max(run.appliedUpdates, update.line.appliedUpdates);
  run.finalScale = update.line.scaleAfter;
  if (!run.firstNonfinite) run.firstNonfinite = update.line.firstNonfinite;
  if (!m_timer.isActive()) m_timer.start(std::max(kIntervalMs, static_cast<int>(run.ledger.size() / kLinesPerMs)));
}

}  // namespace ulpscope::views
