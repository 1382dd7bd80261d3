#include "core/analysis/event_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ulpscope::analysis {
namespace {

using session::EventKind;
using session::EventLog;
using session::LoopFacts;
using session::TrainingEvent;

struct RuleText {
  OrderRule rule;
  const char* name;
  const char* explanation;
};

constexpr RuleText kRules[] = {
    {OrderRule::clipBeforeUnscale, "clip_before_unscale", "clips gradients that still carry the scale, so the threshold is off by it: call scaler.unscale_(optimizer) first"},
    {OrderRule::unscaleTwice, "unscale_twice", "unscale_ divides again what it divided already, torch.amp raises: call it once per optimizer and update"},
    {OrderRule::unscaleAfterStep, "unscale_after_step", "unscale_ after step changes nothing any more, torch.amp raises: call it before"},
    {OrderRule::unscaleBeforeAccumulated, "unscale_before_accumulated", "gradients that are added later carry the scale, those before do not: unscale after the last micro-batch"},
    {OrderRule::stepTwice, "step_twice", "a second step on the same gradients, torch.amp raises: step once an update"},
    {OrderRule::stepBeforeAccumulated, "step_before_accumulated", "steps on the gradients of some micro-batches only: step after the last one"},
    {OrderRule::backwardInAutocast, "backward_in_autocast", "PyTorch does not recommend it: backward's ops run in the types that forward chose anyway, and ops that autocast meets only there may get others, so gradients differ from those of the right order: leave autocast before backward"},
    {OrderRule::forwardOutsideAutocast, "forward_outside_autocast", "forward runs in FP32: put forward and loss inside autocast"},
    {OrderRule::lossNotScaled, "loss_not_scaled", "the scaler divides gradients that were never multiplied: call scaler.scale(loss).backward()"},
    {OrderRule::updateMissing, "update_missing", "without update() the scaler stays in its state and the next unscale_ raises: call it once an iteration, also where a step was skipped"},
    {OrderRule::updateTwice, "update_twice", "the scale moves twice in one iteration: call update() once"},
    {OrderRule::updateWithoutStep, "update_without_step", "no gradient was checked before update(), torch.amp raises: step or unscale_ first"},
    {OrderRule::scalerRecreated, "scaler_recreated", "a new scaler forgets what scale the model can bear: make one before the loop"},
    {OrderRule::scalerShared, "scaler_shared", "one run's overflows move the other's scale: give each run a scaler of its own"},
    {OrderRule::optimizerStepDirect, "optimizer_step_direct", "applies gradients that may be scaled or not finite: call scaler.step(optimizer)"},
    {OrderRule::scheduleOnSkippedUpdate, "schedule_on_skipped_update", "the learning rate runs ahead of the weights: step the scheduler only where the optimizer stepped"},
    {OrderRule::scheduleBeforeStep, "schedule_before_step", "the first learning rate is never used: step the scheduler after the optimizer"},
    {OrderRule::zeroGradMissing, "zero_grad_missing", "the gradients of the update before are added to: call zero_grad after each update"},
    {OrderRule::zeroGradWhileAccumulating, "zero_grad_while_accumulating", "throws away the gradients of the micro-batches before: call zero_grad once an update"},
    {OrderRule::zeroGradBeforeStep, "zero_grad_before_step", "zero_grad threw the gradients away before the step took them: call it after the step, or before the first backward"},
    {OrderRule::backwardWithoutForward, "backward_without_forward", "no new loss stands before it, PyTorch raises or adds the same gradients again: run forward and loss first, and log them"},
    {OrderRule::stepWithoutGradients, "step_without_gradients", "no backward gave it gradients since the step before, torch.amp raises, an optimizer alone takes none or old ones: call backward first"},
    {OrderRule::scaleTwice, "scale_twice", "the loss is multiplied by the scale again, and unscale_ divides once: the gradients stay too large by the scale: call scale once a loss"},
    {OrderRule::iterationBackwards, "iteration_backwards", "an iteration follows one of a higher number: log the calls in their order, and count the iterations upwards"},
    {OrderRule::notInHead, "not_in_head", "the log's head says that the loop has no scaler, or no autocast, and here is a call on it: write true in the head, or take the call out"},
    {OrderRule::nothingToJudge, "nothing_to_judge", "no step: log the calls from zero_grad to update() of one iteration at least"},
    {OrderRule::deprecatedApi, "deprecated_api", "torch.cuda.amp is deprecated and enables CUDA only: use torch.amp with a device"},
    {OrderRule::checkpointBeforeUpdate, "checkpoint_before_update", "gradients and found infs that wait are not saved, so scaler and weights are not of one moment: save after update(), before the next backward"},
    {OrderRule::checkpointWithoutScaler, "checkpoint_without_scaler", "a resumed run starts again at the scaler's first scale: save scaler.state_dict() too, and load it"}};

const RuleText& textOf(OrderRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

// What a zero_grad took from an optimizer since its last step.
enum class Thrown { nothing, some, all };

struct OptimizerState {
  std::int64_t backwards = 0;  // since its gradients were cleared
  std::int64_t losses = 0;     // that its backwards took in this iteration
  Thrown thrown = Thrown::nothing;
  bool unscaled = false, stepped = false;
  std::optional<bool> applied;  // of the last step; empty: none, or not known
  bool everStepped = false, everCleared = false;
  bool cleared = true;          // since its last step
};

// One run's loop.
struct LoopState {
  std::map<std::string, OptimizerState> optimizers;
  std::int64_t iteration = 0;
  int autocastDepth = 0;
  int scaledLosses = 0;         // that wait for their backward
  std::int64_t losses = 0, scales = 0;  // of this iteration
  bool hasForward = false;      // something in this iteration can have a gradient
  int updates = 0;              // of this iteration
  bool checked = false;         // a gradient of this iteration was looked at by the scaler
  std::int64_t scalersMade = 0;
};

class Checker {
 public:
  explicit Checker(const LoopFacts& facts) : m_facts(facts) {}

  void take(const TrainingEvent& event) {
    auto [found, isNew] = m_loops.try_emplace(event.run);
    m_loop = &found->second;
    m_event = &event;
    if (isNew)
      for (const std::string& optimizer : m_facts.optimizers) m_loop->optimizers[optimizer];
    if (isNew) m_loop->iteration = event.iteration;
    if (event.iteration < m_loop->iteration) add(OrderRule::iterationBackwards);
    if (event.iteration != m_loop->iteration) beginIteration();
    if (!event.api.empty() && event.api.rfind("torch.cuda.amp", 0) == 0) addOnce(OrderRule::deprecatedApi);
    noteScaler();
    dispatch();
  }

  std::vector<OrderViolation> finish(bool ofUser) {
    for (auto& [run, loop] : m_loops) {
      m_loop = &loop;
      endIteration(run);
      for (const auto& [name, state] : loop.optimizers)
        if (state.everStepped && !state.everCleared) add({loop.iteration, session::name(EventKind::zeroGrad), name, run, OrderRule::zeroGradMissing});
    }
    if (ofUser && !m_anyStep) m_violations.push_back({m_event ? m_event->iteration : 0, session::name(EventKind::step), "", m_event ? m_event->run : "", OrderRule::nothingToJudge});
    return std::move(m_violations);
  }

 private:
  const LoopFacts& m_facts;
  std::map<std::string, LoopState> m_loops;  // by run
  LoopState* m_loop = nullptr;
  const TrainingEvent* m_event = nullptr;
  std::map<std::string, std::string> m_runOfScaler;
  std::set<OrderRule> m_saidOnce;
  std::set<std::tuple<std::string, std::int64_t, std::string, OrderRule>> m_said;
  std::vector<OrderViolation> m_violations;
  bool m_anyStep = false;

  void add(OrderViolation violation) {
    if (m_said.emplace(violation.run, violation.step, violation.optimizer, violation.rule).second) m_violations.push_back(std::move(violation));
  }
  void add(OrderRule rule, const std::string& optimizer = "") { add({m_event->iteration, session::name(m_event->kind), optimizer, m_event->run, rule}); }
  void addOnce(OrderRule rule) {
    if (m_saidOnce.insert(rule).second) add(rule);
  }

  // A scaler that must be updated before the next iteration touches it.
  void endIteration(const std::string& run) {
    const bool stepped = std::any_of(m_loop->optimizers.begin(), m_loop->optimizers.end(), [](const auto& entry) { return entry.second.stepped; });
    if (m_facts.hasScaler && stepped && m_loop->updates == 0) add({m_loop->iteration, session::name(EventKind::update), "", run, OrderRule::updateMissing});
  }

  void beginIteration() {
    endIteration(m_event->run);
    m_loop->iteration = m_event->iteration;
    m_loop->updates = 0;
    m_loop->losses = m_loop->scales = 0;
    m_loop->checked = m_loop->hasForward = false;
    for (auto& [name, state] : m_loop->optimizers) {
      state.unscaled = state.stepped = false;
      state.losses = 0;
    }
  }

  void noteScaler() {
    if (m_event->scaler.empty()) return;
    const auto [owner, isNew] = m_runOfScaler.emplace(m_event->scaler, m_event->run);
    if (!isNew && owner->second != m_event->run) addOnce(OrderRule::scalerShared);
  }

  // The event's optimizer, or every one.
  template <typename F>
  void forEach(F&& act) {
    for (auto& [name, state] : m_loop->optimizers)
      if (m_event->optimizer.empty() || m_event->optimizer == name) act(name, state);
  }

  bool isDenied() const {
    const EventKind kind = m_event->kind;
    const bool ofScaler = kind == EventKind::newScaler || kind == EventKind::scale || kind == EventKind::unscale || kind == EventKind::update;
    const bool ofAutocast = kind == EventKind::autocastBegin || kind == EventKind::autocastEnd;
    return (ofScaler && !m_facts.hasScaler) || (ofAutocast && !m_facts.hasAutocast);
  }

  void dispatch() {
    if (isDenied()) addOnce(OrderRule::notInHead);
    switch (m_event->kind) {
      case EventKind::newScaler: return newScaler();
      case EventKind::zeroGrad: return forEach([this](const auto& name, OptimizerState& state) { zeroGrad(name, state); });
      case EventKind::autocastBegin:
        m_loop->hasForward = true;
        ++m_loop->autocastDepth;
        return;
      case EventKind::autocastEnd: m_loop->autocastDepth -= m_loop->autocastDepth > 0 ? 1 : 0; return;
      case EventKind::forward:
      case EventKind::loss:
        m_loop->hasForward = true;
        m_loop->losses += m_event->kind == EventKind::loss ? 1 : 0;
        if (m_facts.hasAutocast && m_loop->autocastDepth == 0) add(OrderRule::forwardOutsideAutocast);
        return;
      case EventKind::scale: return scale();
      case EventKind::backward: return backward();
      case EventKind::unscale: return forEach([this](const auto& name, OptimizerState& state) { unscale(name, state); });
      case EventKind::clip: return forEach([this](const auto& name, OptimizerState& state) { clip(name, state); });
      case EventKind::step: return forEach([this](const auto& name, OptimizerState& state) { step(name, state); });
      case EventKind::optimizerStep: return forEach([this](const auto& name, OptimizerState& state) { directStep(name, state); });
      case EventKind::update: return update();
      case EventKind::schedulerStep: return schedule();
      case EventKind::guard: return;
      case EventKind::checkpoint: return checkpoint();
    }
  }

  void newScaler() {
    if (++m_loop->scalersMade > 1) add(OrderRule::scalerRecreated);
  }

  void zeroGrad(const std::string& name, OptimizerState& state) {
    const bool amidst = state.backwards > 0 && state.backwards < m_facts.accumulation;
    if (amidst && state.cleared) add(OrderRule::zeroGradWhileAccumulating, name);
    if (state.backwards > 0) state.thrown = amidst ? Thrown::some : Thrown::all;
    state.backwards = 0;
    state.cleared = state.everCleared = true;
  }

  void scale() {
    m_loop->hasForward = true;
    ++m_loop->scaledLosses;
    if (++m_loop->scales > m_loop->losses && m_loop->losses > 0) add(OrderRule::scaleTwice);
  }

  void backward() {
    if (m_loop->autocastDepth > 0) add(OrderRule::backwardInAutocast);
    if (m_facts.hasScaler && m_loop->scaledLosses == 0) add(OrderRule::lossNotScaled);
    m_loop->scaledLosses -= m_loop->scaledLosses > 0 ? 1 : 0;
    if (!m_loop->hasForward) add(OrderRule::backwardWithoutForward);
    forEach([this](const auto& name, OptimizerState& state) { addGradients(name, state); });
  }

  void addGradients(const std::string& name, OptimizerState& state) {
    if (!state.cleared) add(OrderRule::zeroGradMissing, name);
    state.cleared = true;  // said; the count of this update goes on from here
    if (state.unscaled && !state.stepped) add(OrderRule::unscaleBeforeAccumulated, name);
    ++state.backwards;
    if (++state.losses > m_loop->losses && m_loop->losses > 0) add(OrderRule::backwardWithoutForward);
  }

  void unscale(const std::string& name, OptimizerState& state) {
    if (state.stepped) add(OrderRule::unscaleAfterStep, name);
    else if (state.unscaled) add(OrderRule::unscaleTwice, name);
    else if (state.backwards > 0 && state.backwards < m_facts.accumulation) add(OrderRule::unscaleBeforeAccumulated, name);
    state.unscaled = true;
    m_loop->checked = true;
  }

  void clip(const std::string& name, const OptimizerState& state) {
    if (m_facts.hasScaler && !state.unscaled) add(OrderRule::clipBeforeUnscale, name);
  }

  void step(const std::string& name, OptimizerState& state) {
    if (state.stepped) add(OrderRule::stepTwice, name);
    else lookAtGradients(name, state);
    stepped(state);
    m_loop->checked = true;
  }

  void directStep(const std::string& name, OptimizerState& state) {
    if (m_facts.hasScaler) add(OrderRule::optimizerStepDirect, name);
    lookAtGradients(name, state);
    stepped(state);
  }

  // Of a step: whether all that it should take is there, and if not, why.
  void lookAtGradients(const std::string& name, const OptimizerState& state) {
    if (state.backwards >= m_facts.accumulation) return;
    if (state.thrown == Thrown::all || (state.thrown == Thrown::some && state.backwards == 0)) add(OrderRule::zeroGradBeforeStep, name);
    else add(state.backwards == 0 ? OrderRule::stepWithoutGradients : OrderRule::stepBeforeAccumulated, name);
  }

  void stepped(OptimizerState& state) {
    state.stepped = state.everStepped = true;
    state.applied = m_event->applied;
    state.cleared = false;
    state.backwards = 0;
    state.thrown = Thrown::nothing;
    m_anyStep = true;
  }

  void update() {
    if (m_loop->updates > 0) add(OrderRule::updateTwice);
    else if (!m_loop->checked) add(OrderRule::updateWithoutStep);
    ++m_loop->updates;
  }

  // With several optimizers an update is real where one of them stepped.
  void schedule() {
    bool any = false, skipped = true;
    for (const auto& [name, state] : m_loop->optimizers) {
      any = any || state.stepped;
      skipped = skipped && state.applied.has_value() && !*state.applied;
    }
    if (!any) add(OrderRule::scheduleBeforeStep);
    else if (skipped) add(OrderRule::scheduleOnSkippedUpdate);
  }

  void checkpoint() {
    const bool amidst = std::any_of(m_loop->optimizers.begin(), m_loop->optimizers.end(), [this](const auto& entry) { return waitsForItsEnd(entry.second); });
    if (amidst) add(OrderRule::checkpointBeforeUpdate);
    const auto& saved = m_event->saved;
    if (m_facts.hasScaler && saved && std::find(saved->begin(), saved->end(), "scaler") == saved->end()) addOnce(OrderRule::checkpointWithoutScaler);
  }

  // It has gradients that no step took, or the scaler has not heard of its step.
  bool waitsForItsEnd(const OptimizerState& state) const {
    const bool checked = state.unscaled || state.stepped;
    return state.backwards > 0 || (m_facts.hasScaler && checked && m_loop->updates == 0);
  }
};

}  // namespace

std::string name(OrderRule rule) { return textOf(rule).name; }
std::string explanation(OrderRule rule) { return textOf(rule).explanation; }

std::vector<OrderViolation> checkOrder(const EventLog& log) {
  Checker checker(log.facts);
  for (const TrainingEvent& event : log.events) checker.take(event);
  return checker.finish(log.ofUser);
}

}  // namespace ulpscope::analysis
