#include "core/train/trajectory_run.h"

#include "core/analysis/event_order.h"
#include "core/base/number_text.h"
#include "core/engine/values.h"
#include "core/train/step_failure.h"

#include <ATen/ATen.h>
#include <torch/types.h>

#include <torch/nn/utils/clip_grad.h>  // leans on torch/types.h

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using session::EventKind;
using Autocast = ForwardPass::Autocast;

GradScaler::Options optionsOf(const session::ScalerRecipe& r) {
  return {r.initScale, r.growthFactor, r.backoffFactor, r.growthInterval, true,
          r.series == session::ScalerRecipe::Series::v1_13 ? GradScaler::Series::v1_13 : GradScaler::Series::v2_1};
}

// The smallest normal number.
double tinyOf(base::DType format) { return format == base::DType::float16 ? 0x1p-14 : 0x1p-126; }

std::uint64_t seedOf(std::uint64_t seed, std::int64_t microBatch) {
  std::uint64_t state = seed ^ (static_cast<std::uint64_t>(microBatch) << 20);
  return nextRandom(state);
}

std::vector<Call> programOf(const session::Recipe& recipe, LoopParts parts) {
  auto program = programFor(recipe, parts);
  if (!program) throw StepFailure(program.error());
  return std::move(program).value();
}

std::string placeText(const session::FirstNonfinite& f) {
  std::string text = "stage " + f.stage;
  if (!f.op.empty()) text += ", " + f.op + " in " + (f.modulePath.empty() ? "the root module" : f.modulePath);
  if (!f.parameter.empty()) text += ", parameter " + f.parameter;
  if (f.op.empty() && f.parameter.empty() && !f.source.empty()) text += ", " + f.source;
  return text + ": " + f.kind;
}

// "on_nonfinite": "stop".
class Stopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace

TrajectoryRun::TrajectoryRun(const TrainingFrame& frame, const RunPlan& plan, Accounting accounting)
    : m_frame(frame),
      m_plan(plan),
      m_accounting(accounting),
      m_model(frame.model.module),
      m_pass(frame, m_model, plan.autocast),
      m_optimizers(makeOptimizers(frame.recipe.optimizers, m_model)),
      m_program(programOf(frame.recipe, {plan.autocast.has_value(), plan.scaler.has_value()})),
      m_rates(frame.recipe.scheduler),
      m_batches(frame.samples(), frame.recipe.batchSize, frame.recipe.shuffleSeed),
      m_ledger(m_model, m_optimizers, tinyOf(frame.lowFormat())),
      m_poisoned(m_model.buffers().size(), false),
      m_attributes(m_model) {
  m_trajectory.name = plan.name;
  m_trajectory.autocast = plan.autocast.has_value();
  m_trajectory.scaling = plan.scaler.has_value();
  if (plan.autocast) m_trajectory.fp32 = plan.autocast->fp32;
  for (const auto& optimizer : frame.recipe.optimizers) m_log.facts.optimizers.push_back(optimizer.name);
  m_log.facts.hasScaler = m_trajectory.scaling;
  m_log.facts.hasAutocast = m_trajectory.autocast;
  m_log.facts.accumulation = frame.recipe.accumulationSteps;
  for (std::size_t i = 0; i < m_model.buffers().size(); ++i) m_poisoned[i] = !allFinite(m_model.buffers()[i].value());
}

session::TrainingEvent& TrajectoryRun::log(const Call& call) {
  session::TrainingEvent event;
  event.iteration = m_step;
  event.kind = call.kind;
  if (call.optimizer != kEveryOptimizer) event.optimizer = m_optimizers[static_cast<std::size_t>(call.optimizer)].recipe.name;
  if (m_scaler) event.scaler = m_scalerName;
  m_log.events.push_back(std::move(event));
  return m_log.events.back();
}

void TrajectoryRun::makeScaler() {
  m_scalerName = fmt::format("scaler{}", ++m_scalersMade);
  m_scaler.emplace(optionsOf(*m_plan.scaler));
}

StepSubject TrajectoryRun::subject() const {
  auto& self = const_cast<TrajectoryRun&>(*this);
  return {m_frame, self.m_model, self.m_pass, m_optimizers, m_start, m_now.batches, m_step};
}

void TrajectoryRun::perform(const Call& call) {
  const auto forOptimizers = [&](auto&& act) {
    for (std::size_t o = 0; o < m_optimizers.size(); ++o)
      if (call.optimizer == kEveryOptimizer || call.optimizer == static_cast<int>(o)) act(o);
  };
  if (call.kind == EventKind::schedulerStep) return schedule();
  if (call.kind == EventKind::step || call.kind == EventKind::optimizerStep) return forOptimizers([&](std::size_t o) { stepOptimizer(o, call.kind); });
  log(call);
  switch (call.kind) {
    case EventKind::newScaler: return makeScaler();
    case EventKind::zeroGrad: return zeroGradients(call.optimizer);
    case EventKind::autocastBegin: m_autocast = Autocast::on; return;
    case EventKind::autocastEnd:
      m_autocast = Autocast::off;
      return m_pass.endAutocast();
    case EventKind::forward: return forward();
    case EventKind::loss: return loss();
    case EventKind::scale: return scale();
    case EventKind::backward: return backward(call.optimizer);
    case EventKind::unscale: return forOptimizers([&](std::size_t o) { unscale(o); });
    case EventKind::guard: return guard();
    case EventKind::clip: return forOptimizers([&](std::size_t o) { clip(o); });
    case EventKind::update:
      lookOnce();
      if (m_scaler) m_scaler->update();
      return;
    case EventKind::step:
    case EventKind::optimizerStep:
    case EventKind::schedulerStep:
    case EventKind::checkpoint: return;
  }
}

void TrajectoryRun::zeroGradients(int optimizer) {
  const auto clear = [&](const at::Tensor& parameter) {
    if (!parameter.grad().defined()) return;
    if (m_frame.recipe.setToNone) parameter.mutable_grad() = at::Tensor();
    else parameter.grad().detach_().zero_();
  };
  if (optimizer == kEveryOptimizer)
    for (const NamedParameter& parameter : m_model.parameters()) clear(parameter.tensor);
  else
    for (const at::Tensor& parameter : m_optimizers[static_cast<std::size_t>(optimizer)].tensors) clear(parameter);
}

void TrajectoryRun::forward() {
  DoneBatch done;
  done.batch = {m_batches.next(), seedOf(m_frame.recipe.seed, m_microBatches++)};
  done.forward = m_autocast;
  m_now.batches.push_back(std::move(done));
  m_now.output = m_pass.forward(m_now.batches.back().batch, m_autocast);
  if (m_frame.recipe.rollback.outputsNonfinite)
    engine::forEachTensor(m_now.output, [&](const at::Tensor& tensor) { m_now.outputNonfinite = m_now.outputNonfinite || (tensor.is_floating_point() && !allFinite(tensor.detach())); });
  m_now.scaled.clear();
}

void TrajectoryRun::loss() {
  if (m_now.batches.empty()) throw StepFailure(Error{ErrorKind::usage, "a loss before the first forward", "events", "name forward first"});
  m_now.batches.back().loss = m_autocast;
  m_now.losses = m_pass.loss(m_now.output, m_now.batches.back().batch, m_autocast);
  m_now.scaled.clear();
  for (const TrainedOptimizer& optimizer : m_optimizers)
    if (optimizer.recipe.loss >= static_cast<int>(m_now.losses.whole.size()))
      throw StepFailure(Error{ErrorKind::usage, fmt::format("takes loss {}, of which there {} {}", optimizer.recipe.loss, m_now.losses.whole.size() == 1 ? "is" : "are", m_now.losses.whole.size()),
                              "optimizer " + optimizer.recipe.name, "losses are counted from 0"});
  m_now.lossSums.resize(m_now.losses.whole.size());
  for (std::size_t i = 0; i < m_now.lossSums.size(); ++i) {
    const double value = m_now.losses.whole[i].item<double>();
    const bool taken = std::any_of(m_optimizers.begin(), m_optimizers.end(), [&](const TrainedOptimizer& o) { return static_cast<std::size_t>(o.recipe.loss) == i; });
    m_now.lossNonfinite = m_now.lossNonfinite || (taken && !std::isfinite(value));
    m_now.lossSums[i] += value;
  }
  ++m_now.lossCount;
}

void TrajectoryRun::scale() {
  if (m_now.losses.backward.empty()) throw StepFailure(Error{ErrorKind::usage, "scale before the first loss", "events", "name forward first"});
  const bool again = !m_now.scaled.empty();  // as in PyTorch, the scaled loss is scaled once more
  m_now.lossScale = (again ? m_now.lossScale : 1) * m_scaler->getScale();
  m_now.scaled = m_scaler->scale(again ? m_now.scaled : m_now.losses.backward);
}

// Where the optimizers take several losses, the gradients of each go to the parameters of those that take it.
void TrajectoryRun::backward(int optimizer) {
  if (m_now.losses.backward.empty()) throw StepFailure(Error{ErrorKind::usage, "backward before the first loss", "events", "name forward first"});
  const bool scaled = !m_now.scaled.empty();
  std::map<std::size_t, std::vector<at::Tensor>> leaves;
  bool several = false;
  for (std::size_t o = 0; o < m_optimizers.size(); ++o) {
    several = several || m_optimizers[o].recipe.loss != m_optimizers.front().recipe.loss;
    if (optimizer != kEveryOptimizer && optimizer != static_cast<int>(o)) continue;
    auto& inputs = leaves[static_cast<std::size_t>(m_optimizers[o].recipe.loss)];
    for (const at::Tensor& parameter : m_optimizers[o].tensors)
      if (parameter.requires_grad()) inputs.push_back(parameter);
  }
  DoneBackward done;
  std::vector<at::Tensor> losses;
  for (auto& [number, inputs] : leaves) {
    done.losses.push_back(number);
    done.scales.push_back(scaled ? m_now.lossScale : 1);
    done.inputs.push_back(several || optimizer != kEveryOptimizer ? inputs : std::vector<at::Tensor>{});
    losses.push_back((scaled ? m_now.scaled : m_now.losses.backward)[number]);
  }
  if (m_now.batches.size() == 1 && m_now.batches.back().backwards.empty() && m_step == m_comparedStep) {
    m_now.batches.back().backwards.push_back(done);
    compareWithFp32();
  } else {
    m_now.batches.back().backwards.push_back(done);
  }
  train::backward(losses, done.inputs);
}

// Before the step's own backward: its graph stays as it is.
void TrajectoryRun::compareWithFp32() {
  if (m_accounting == Accounting::off || (!m_plan.autocast && !m_plan.scaler)) return;
  ForwardPass fp32(m_frame, m_model, std::nullopt);
  const FirstStepGradients found = compareGradients(subject(), fp32, m_now.batches.back());
  m_trajectory.gradientSites = found.sites;
  std::string names;
  for (std::size_t i = 0; i < found.zeroShares.size(); ++i)
    if (found.zeroShares[i] >= 0.5 && found.referenceZeroShares[i] < 0.1) names += (names.empty() ? "" : ", ") + m_model.parameters()[i].name;
  if (names.empty()) return;
  m_trajectory.alarms.push_back({"gradients_flushed_to_zero", m_step,
                                 fmt::format("half or more of the gradient is zero where FP32's at the same weights is not: {}; {}", names,
                                             m_plan.scaler ? "raise the scale, or keep these modules in FP32" : "train with a GradScaler, or in BF16")});
}

void TrajectoryRun::lookOnce() {
  if (m_now.looked) return;
  m_now.looked = true;
  if (m_accounting == Accounting::off) {
    m_now.tallies.resize(m_optimizers.size());
    return;
  }
  m_now.tallies = m_ledger.lookAtGradients();
  bool nonfinite = m_now.lossNonfinite;
  for (OptimizerTally& tally : m_now.tallies) {
    tally.foundInf = tally.gradients.nonfinite > 0;
    nonfinite = nonfinite || tally.foundInf;
  }
  if (!nonfinite) return;
  auto found = explainNonfinite(subject());
  for (std::size_t o = 0; o < found.size(); ++o) {
    m_now.tallies[o].first = found[o];
    if (found[o] && !m_trajectory.firstNonfinite) m_trajectory.firstNonfinite = found[o];
  }
}

void TrajectoryRun::guard() const {
  auto& self = const_cast<TrajectoryRun&>(*this);
  if (m_accounting == Accounting::off && !m_frame.recipe.stopOnNonfinite) return;
  self.lookOnce();
  if (!m_frame.recipe.stopOnNonfinite) return;
  for (const OptimizerTally& tally : m_now.tallies)
    if (tally.first) throw Stopped(fmt::format("stopped in step {} as the recipe asks (on_nonfinite): not finite at {}", m_step, placeText(*tally.first)));
}

void TrajectoryRun::unscale(std::size_t o) {
  lookOnce();
  if (!m_scaler) return;
  m_scaler->unscale_(*m_optimizers[o].optimizer);
  OptimizerTally& tally = m_now.tallies[o];
  tally.unscaled = true;
  if (m_accounting == Accounting::on) tally.gradNorm = Ledger::gradientNorm(m_optimizers[o]);
}

void TrajectoryRun::clip(std::size_t o) {
  lookOnce();
  OptimizerTally& tally = m_now.tallies[o];
  if (!tally.gradNorm) tally.gradNorm = std::sqrt(tally.gradients.squares) / m_now.scaleBefore;
  const auto& clip = m_frame.recipe.clip;
  if (!clip) return;
  if (clip->norm) torch::nn::utils::clip_grad_norm_(m_optimizers[o].tensors, *clip->norm, 2.0, clip->errorIfNonfinite);
  else torch::nn::utils::clip_grad_value_(m_optimizers[o].tensors, *clip->value);
  if (m_accounting == Accounting::on) tally.clippedNorm = Ledger::gradientNorm(m_optimizers[o]) / (m_scaler && !tally.unscaled ? m_now.scaleBefore : 1);
}

void TrajectoryRun::stepOptimizer(std::size_t o, EventKind kind) {
  lookOnce();
  session::TrainingEvent& event = log({kind, static_cast<int>(o)});
  OptimizerTally& tally = m_now.tallies[o];
  if (m_accounting == Accounting::on) m_meter.before(m_optimizers[o]);
  tally.lr = m_rates.rate(m_optimizers[o].recipe.lr);
  m_optimizers[o].setRate(tally.lr);
  const bool byScaler = m_scaler && kind == EventKind::step;
  if (byScaler) {
    tally.applied = m_scaler->step(*m_optimizers[o].optimizer).applied;
    tally.foundInf = m_scaler->foundInf(*m_optimizers[o].optimizer).value_or(false);
  } else {
    m_optimizers[o].optimizer->step();
    tally.applied = true;
  }
  tally.stepped = true;
  event.applied = tally.applied;
  m_now.anyApplied = m_now.anyApplied || tally.applied;
  if (m_accounting == Accounting::off) return;
  if (!tally.gradNorm) tally.gradNorm = m_scaler && !tally.unscaled && byScaler ? Ledger::gradientNorm(m_optimizers[o]) : std::sqrt(tally.gradients.squares);
  if (tally.applied) noteUpdate(o, tally);
}

void TrajectoryRun::noteUpdate(std::size_t o, OptimizerTally& tally) {
  tally.updateNorm = m_meter.norm(m_optimizers[o]);
  if (std::isfinite(tally.updateNorm) || tally.first) return;
  for (const std::size_t i : m_optimizers[o].parameters) {
    const NamedParameter& parameter = m_model.parameters()[i];
    const GradientStatistics s = statisticsOf(parameter.tensor, 0);
    if (s.nonfinite == 0) continue;
    session::FirstNonfinite first;
    first.step = m_step;
    first.stage = "update";
    first.parameter = parameter.name;
    first.kind = s.hasNan ? "NaN" : "inf";
    tally.first = first;
    if (!m_trajectory.firstNonfinite) m_trajectory.firstNonfinite = first;
    return;
  }
}

// By the rule: per_update only where an optimizer stepped.
void TrajectoryRun::schedule() {
  const bool literal = !m_frame.recipe.events.empty();
  const bool steps = m_now.anyApplied || literal || (m_frame.recipe.scheduler && m_frame.recipe.scheduler->rule == session::SchedulerRecipe::Rule::perIteration);
  if (!steps) return;
  log({EventKind::schedulerStep, kEveryOptimizer});
  m_rates.step();
}

}  // namespace ulpscope::train
