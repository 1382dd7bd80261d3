// TrajectoryRun from step to step: ledger lines, buffers, the order, the end.
#include "core/analysis/event_order.h"
#include "core/engine/loaded_model.h"
#include "core/train/step_failure.h"
#include "core/train/trajectory_run.h"

#include <ATen/ATen.h>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace ulpscope::train {

using session::EventKind;
using Autocast = ForwardPass::Autocast;

bool TrajectoryRun::step() {
  beginScaler();
  m_now = {};
  m_now.scaleBefore = m_scaler ? static_cast<float>(m_scaler->getScale()) : 1;  // what scale() will multiply by
  m_start.take(m_model);
  bool aborted = false;
  try {
    for (const Call& call : m_program) perform(call);
  } catch (const StepFailure& failure) {
    if (failure.error().kind == base::ErrorKind::usage) throw;
    m_trajectory.error = failure.what();
    m_trajectory.failed = aborted = true;
  } catch (const engine::Cancelled&) {
    m_trajectory.error = "cancelled";
    m_cancelled = aborted = true;
  } catch (const std::exception& e) {
    m_trajectory.error = engine::plainMessage(e);
    aborted = true;
  }
  m_autocast = Autocast::off;
  m_pass.endAutocast();
  if (m_accounting == Accounting::on && (!aborted || (m_now.looked && !m_cancelled))) writeLines();
  if (aborted) return false;
  ++m_step;
  return true;
}

double TrajectoryRun::lossOf(const TrainedOptimizer& optimizer) const {
  const auto number = static_cast<std::size_t>(optimizer.recipe.loss);
  return number < m_now.lossSums.size() ? m_now.lossSums[number] / static_cast<double>(m_now.lossCount) : std::numeric_limits<double>::quiet_NaN();
}

// The last line of the optimizer is as many lines back as there are optimizers.
std::int64_t TrajectoryRun::appliedBefore(std::size_t optimizer) const {
  for (auto line = m_trajectory.ledger.rbegin(); line != m_trajectory.ledger.rend(); ++line)
    if (line->optimizer == m_optimizers[optimizer].recipe.name) return line->appliedUpdates;
  return 0;
}

void TrajectoryRun::writeLines() {
  if (!m_now.looked) {
    m_now.tallies.resize(m_optimizers.size());
    m_ledger.lookAtNothing();
  }
  if (m_now.anyApplied) ++m_trajectory.appliedUpdates;
  for (std::size_t o = 0; o < m_optimizers.size(); ++o) {
    const OptimizerTally& tally = m_now.tallies[o];
    session::LedgerLine line;
    line.step = m_step;
    line.optimizer = m_optimizers[o].recipe.name;
    line.loss = lossOf(m_optimizers[o]);
    line.scaleBefore = m_now.scaleBefore;
    line.scaleAfter = m_scaler ? m_scaler->getScale() : 1;
    line.foundInf = tally.foundInf;
    line.applied = tally.applied;
    line.skipped = !tally.applied && (tally.stepped || tally.foundInf);
    line.growthTracker = m_scaler ? m_scaler->growthTracker() : 0;
    line.scaledNorm = std::sqrt(tally.gradients.squares);
    line.gradNorm = tally.gradNorm.value_or(line.scaledNorm / line.scaleBefore);
    line.clippedNorm = tally.clippedNorm.value_or(line.gradNorm);
    line.zeroShare = tally.gradients.share(tally.gradients.zeros);
    line.subnormalShare = tally.gradients.share(tally.gradients.subnormals);
    line.nonfiniteShare = tally.gradients.share(tally.gradients.nonfinite);
    line.lr = tally.stepped ? tally.lr : m_rates.rate(m_optimizers[o].recipe.lr);
    line.updateNorm = tally.updateNorm;
    line.appliedUpdates = appliedBefore(o) + (tally.applied ? 1 : 0);
    line.schedulerSteps = m_rates.steps();
    line.firstNonfinite = tally.first;
    if (m_frame.hooks.line) m_frame.hooks.line(m_trajectory.name, line);
    m_trajectory.ledger.push_back(std::move(line));
  }
  noteBuffers();
}

// Only buffers that the step wrote are looked at.
void TrajectoryRun::noteBuffers() {
  for (const std::size_t i : m_start.changed(m_model)) {
    const bool finite = allFinite(m_model.buffers()[i].value());
    const std::string& name = m_model.buffers()[i].name;
    auto& list = m_trajectory.poisonedBuffers;
    if (!finite && !m_poisoned[i]) list.push_back(fmt::format("{} (step {})", name, m_step));
    if (finite && m_poisoned[i]) list.erase(std::remove_if(list.begin(), list.end(), [&](const std::string& text) { return text.rfind(name + " (step", 0) == 0; }), list.end());
    m_poisoned[i] = !finite;
  }
}

void TrajectoryRun::checkOrder(bool aborted) {
  for (const analysis::OrderViolation& v : analysis::checkOrder(m_log)) {
    if (aborted && v.step == m_step && v.rule == analysis::OrderRule::updateMissing) continue;  // the iteration ended before it could come
    m_trajectory.violations.push_back({v.step, v.event, analysis::name(v.rule), v.optimizer, analysis::explanation(v.rule)});
  }
}

std::optional<double> TrajectoryRun::accuracy() {
  if (!m_frame.loss.decides() || m_frame.set.samples.labels.empty()) return std::nullopt;
  const AsideScope aside(m_model);
  m_model.module().eval();
  struct TrainAgain {
    torch::jit::Module& module;
    ~TrainAgain() { module.train(true); }
  } trainAgain{m_model.module()};
  const std::int64_t count = m_frame.samples();
  const at::Tensor labels = at::tensor(m_frame.set.samples.labels, at::kLong);
  std::int64_t right = 0, labelled = 0;
  for (std::int64_t first = 0; first < count; first += m_frame.recipe.batchSize) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(m_frame.recipe.batchSize, count - first)));
    std::iota(rows.begin(), rows.end(), first);
    const at::Tensor scores = m_frame.loss.scoresOf(m_pass.inference(rows, m_plan.autocast ? Autocast::on : Autocast::off));
    const at::Tensor truth = labels.narrow(0, first, static_cast<std::int64_t>(rows.size()));
    if (scores.dim() != 2 || scores.size(0) != truth.size(0)) return std::nullopt;
    labelled += truth.ge(0).sum().item<std::int64_t>();
    right += scores.argmax(1).eq(truth).logical_and(scores.isnan().any(1).logical_not()).sum().item<std::int64_t>();
  }
  if (labelled == 0) return std::nullopt;
  return static_cast<double>(right) / static_cast<double>(labelled);
}

void TrajectoryRun::finish() {
  checkOrder(!m_trajectory.error.empty());
  m_trajectory.parameters = m_ledger.parameters();
  m_trajectory.finalScale = m_scaler ? m_scaler->getScale() : m_plan.scaler ? m_plan.scaler->initScale : 1;
  m_trajectory.steps = m_step;
  m_trajectory.schedulerSteps = m_rates.steps();
  if (!m_trajectory.error.empty()) return;
  try {
    m_trajectory.accuracy = accuracy();
  } catch (const engine::Cancelled&) {
    m_cancelled = true;
  } catch (const std::exception&) {
    // A model that trains and does not run in eval mode has no accuracy.
  }
}

session::Trajectory TrajectoryRun::run(StepWatcher* watcher) {
  const std::int64_t steps = m_frame.recipe.steps;
  const auto start = std::chrono::steady_clock::now();
  if (watcher) watcher->begin(*this);
  while (m_step < steps) {
    if (m_frame.hooks.progress) m_frame.hooks.progress({"training " + m_trajectory.name, "", "", m_step, steps});
    if (m_frame.stop.stop_requested()) {
      m_cancelled = true;
      m_trajectory.error = "cancelled";
      break;
    }
    if (!step() || (watcher && !watcher->stepDone(*this))) break;
  }
  finish();
  m_trajectory.elapsedSeconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(m_trajectory);
}

}  // namespace ulpscope::train
