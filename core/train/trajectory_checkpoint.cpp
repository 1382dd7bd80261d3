// TrajectoryRun's whole state, out and in again.
#include "core/analysis/event_order.h"
#include "core/train/module_state.h"
#include "core/train/optimizer_state.h"
#include "core/train/step_failure.h"
#include "core/train/trajectory_run.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using session::EventKind;
using storage::TrainingCheckpoint;

[[noreturn]] void refuse(const std::string& what, const std::string& which) { throw StepFailure(Error{ErrorKind::input, what, "checkpoint, " + which, "resume with the recipe that was trained"}); }

std::vector<std::byte> generatorState() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  const at::Tensor state = generator.get_state();
  std::vector<std::byte> bytes(state.nbytes());
  std::memcpy(bytes.data(), state.data_ptr(), bytes.size());
  return bytes;
}

void restoreGenerator(const std::vector<std::byte>& bytes) {
  at::Tensor state = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(state.data_ptr(), bytes.data(), bytes.size());
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace

void TrajectoryRun::beginScaler() {
  if (!m_plan.scaler || m_scaler) return;
  makeScaler();
  log({EventKind::newScaler, kEveryOptimizer});
}

TrajectoryRun::LastStep TrajectoryRun::lastStep() const {
  LastStep last;
  last.step = m_step - 1;
  last.outputsFinite = !m_now.outputNonfinite && !m_now.lossNonfinite;
  last.applied = m_now.anyApplied;
  last.wantsCheckpoint = m_now.wantsCheckpoint;
  last.loss = m_optimizers.empty() ? 0 : lossOf(m_optimizers.front());
  for (const TrainedOptimizer& optimizer : m_optimizers)
    if (const double loss = lossOf(optimizer); std::isnan(loss) || loss > last.loss) last.loss = loss;
  for (const DoneBatch& done : m_now.batches) last.batches.push_back(done.batch);
  for (const OptimizerTally& tally : m_now.tallies)
    if (!last.first) last.first = tally.first;
  return last;
}

std::string TrajectoryRun::whyNoCheckpoint() const {
  if (m_scaler && m_scaler->hasPending())
    return "the scaler still holds what unscale_ or step found, and its scale is not the one that the next step gets: a checkpoint is taken after update()";
  if (const std::string name = m_attributes.unholdable(); !name.empty())
    return fmt::format("the model's attribute '{}' changes, or cannot be compared, and is of a kind that a checkpoint cannot hold: make it a buffer or a number", name);
  return "";
}

// Taken when the step is done, so nothing may follow it.
void TrajectoryRun::askForCheckpoint(const Call& call) {
  std::string why;
  if (m_scaler && m_scaler->hasPending()) why = "unscale_ or step() is done and update() is not: scaler and weights are not of one moment; take it after update()";
  else if (!m_now.batches.empty() && !m_now.anyApplied && std::none_of(m_now.tallies.begin(), m_now.tallies.end(), [](const OptimizerTally& tally) { return tally.stepped; }))
    why = "gradients wait for their step and would be lost; take it after update()";
  else if (&call != &m_program.back()) why = "calls of the same iteration follow it; name it last";
  if (!why.empty()) throw std::runtime_error("no checkpoint can be taken here: " + why);
  m_now.wantsCheckpoint = true;
}

TrainingCheckpoint TrajectoryRun::checkpoint() {
  beginScaler();
  TrainingCheckpoint c;
  c.step = m_step;
  c.microBatches = m_microBatches;
  c.seed = m_frame.recipe.seed;
  c.generator = generatorState();
  c.schedulerSteps = m_rates.steps();
  c.appliedUpdates = m_trajectory.appliedUpdates;
  c.scalersMade = m_scalersMade;
  if (m_scaler) c.scaler = m_scaler->stateDict();
  // The right order starts a step by forgetting all gradients; where it keeps them as zeros, or a recipe has an order of its own, they count.
  const bool forgets = m_frame.recipe.setToNone && m_frame.recipe.events.empty();
  writeTensors(m_model, forgets ? Gradients::leftOut : Gradients::included, c);
  m_attributes.write(c);
  for (const TrainedOptimizer& optimizer : m_optimizers) c.optimizers.push_back(stateOf(optimizer, m_model));
  session::Trajectory account = m_trajectory;
  account.parameters = m_ledger.parameters();
  c.trajectory = session::toJson(account).dump();
  c.events = session::toLines(m_log);
  return c;
}

void TrajectoryRun::restoreScaler(const TrainingCheckpoint& c, const std::optional<session::ScalerRecipe>& before) {
  if (!m_plan.scaler) return;
  if (!c.scaler) {
    if (before) refuse("has no scaler's state, and the recipe has a scaler: its scale and growth tracker are lost", "scaler");
    return;  // the recipe's change brings one: it begins with the next step
  }
  const session::ScalerRecipe& now = *m_plan.scaler;
  if (before && before->initScale != now.initScale) return;  // a new scale is what the change asks for
  makeScaler();
  try {
    m_scaler->loadStateDict(*c.scaler);
  } catch (const ScalerError& e) {
    refuse(e.what(), "scaler");
  }
  m_scaler->setGrowthFactor(now.growthFactor);
  m_scaler->setBackoffFactor(now.backoffFactor);
  m_scaler->setGrowthInterval(now.growthInterval);
  m_scalersMade = static_cast<int>(c.scalersMade);
  m_scalerName = fmt::format("scaler{}", m_scalersMade);
}

void TrajectoryRun::restoreAccount(const TrainingCheckpoint& c, bool changed) {
  session::Trajectory account;
  try {
    account = session::trajectoryFromJson(nlohmann::json::parse(c.trajectory));
  } catch (const nlohmann::json::exception&) {
    refuse("cannot be read", "trajectory");
  }
  const auto& own = m_ledger.parameters();
  const bool fits = std::equal(own.begin(), own.end(), account.parameters.begin(), account.parameters.end(),
                               [](const auto& a, const auto& b) { return a.name == b.name && a.optimizer == b.optimizer; });
  if (!fits) refuse("is of other parameters than the model's", "trajectory");
  auto log = session::eventLogFromLines(c.events);
  if (!log) refuse("cannot be read: " + log.error().message(), "events");
  m_ledger.goOnFrom(std::move(account.parameters));
  // Names and settings are this recipe's.
  account.name = m_trajectory.name;
  account.autocast = m_trajectory.autocast;
  account.scaling = m_trajectory.scaling;
  account.fp32 = m_trajectory.fp32;
  m_trajectory = std::move(account);
  m_trajectory.error.clear();
  m_trajectory.parameters.clear();
  if (!changed) {
    m_log = std::move(log).value();
  } else {
    for (const analysis::OrderViolation& v : analysis::checkOrder(log.value()))
      m_trajectory.violations.push_back({v.step, v.event, analysis::name(v.rule), v.optimizer, analysis::explanation(v.rule)});
  }
  if (m_frame.hooks.line)
    for (const session::LedgerLine& line : m_trajectory.ledger) m_frame.hooks.line(m_trajectory.name, line);
}

void TrajectoryRun::resume(const TrainingCheckpoint& c, const std::optional<session::ScalerRecipe>& scalerBefore, bool changed) {
  restoreTensors(c, m_model);
  m_attributes.restore(c);
  if (c.optimizers.size() != m_optimizers.size()) refuse("are not as many as the recipe's", "optimizers");
  for (std::size_t o = 0; o < m_optimizers.size(); ++o) {
    if (c.optimizers[o].name != m_optimizers[o].recipe.name) refuse("is not the recipe's " + m_optimizers[o].recipe.name, "optimizer " + c.optimizers[o].name);
    restoreState(c.optimizers[o], m_optimizers[o], m_model);
  }
  restoreScaler(c, scalerBefore);
  restoreAccount(c, changed);
  m_rates.goTo(c.schedulerSteps);
  m_step = c.step;
  m_microBatches = c.microBatches;
  m_batches.goTo(c.microBatches);
  m_trajectory.appliedUpdates = c.appliedUpdates;
  for (std::size_t i = 0; i < m_model.buffers().size(); ++i) m_poisoned[i] = !allFinite(m_model.buffers()[i].value());
  restoreGenerator(c.generator);
}

}  // namespace ulpscope::train
