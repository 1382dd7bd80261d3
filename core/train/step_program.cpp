#include "core/train/step_program.h"

#include "core/base/nearest_names.h"

#include <algorithm>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using session::EventKind;
using session::Recipe;

class Program {
 public:
  Program(const Recipe& recipe, LoopParts parts) : m_recipe(recipe), m_parts(parts) {}

  void add(EventKind kind, int optimizer = kEveryOptimizer) {
    const bool ofScaler = kind == EventKind::scale || kind == EventKind::unscale || kind == EventKind::update || kind == EventKind::newScaler;
    const bool ofAutocast = kind == EventKind::autocastBegin || kind == EventKind::autocastEnd;
    if ((ofScaler && !m_parts.scaler) || (ofAutocast && !m_parts.autocast)) return;
    m_calls.push_back({kind, optimizer});
  }
  void addForEach(EventKind kind) {
    for (int o = 0; o < static_cast<int>(m_recipe.optimizers.size()); ++o) add(kind, o);
  }
  void addMicroBatch(int optimizer) {
    for (const EventKind kind : {EventKind::autocastBegin, EventKind::forward, EventKind::loss, EventKind::autocastEnd, EventKind::scale}) add(kind);
    add(EventKind::backward, optimizer);
  }

  std::vector<Call> right() {
    add(EventKind::zeroGrad);
    for (std::int64_t i = 0; i < m_recipe.accumulationSteps; ++i) addMicroBatch(kEveryOptimizer);
    addForEach(EventKind::unscale);
    add(EventKind::guard);
    if (m_recipe.clip) addForEach(EventKind::clip);
    addForEach(EventKind::step);
    add(EventKind::update);
    if (m_recipe.scheduler) add(EventKind::schedulerStep);
    return m_calls;
  }

  // Precondition: the optimizers are known.
  std::vector<Call> literal(std::vector<Call> named) {
    // A checkpoint that ends the list ends the iteration, whatever is added to the list.
    const bool endsInCheckpoint = !named.empty() && named.back().kind == EventKind::checkpoint;
    if (endsInCheckpoint) named.pop_back();
    const auto count = [&](EventKind kind) { return std::count_if(named.begin(), named.end(), [&](const Call& c) { return c.kind == kind; }); };
    const bool whole = count(EventKind::forward) > 0;
    const bool hasLoss = count(EventKind::loss) > 0, oneBackward = count(EventKind::backward) == 1;
    if (!whole && count(EventKind::zeroGrad) == 0) add(EventKind::zeroGrad);
    for (const Call& call : named) {
      if (whole) {
        addNamed(call);
        if (call.kind == EventKind::forward && !hasLoss) add(EventKind::loss);
      } else if (call.kind == EventKind::backward) {
        for (std::int64_t i = 0; i < (oneBackward ? m_recipe.accumulationSteps : 1); ++i) addMicroBatch(call.optimizer);
      } else {
        addNamed(call);
      }
    }
    if (!whole && m_recipe.scheduler && count(EventKind::schedulerStep) == 0) add(EventKind::schedulerStep);
    if (endsInCheckpoint) add(EventKind::checkpoint);
    return m_calls;
  }

 private:
  const Recipe& m_recipe;
  LoopParts m_parts;
  std::vector<Call> m_calls;

  // unscale_, clip and step are calls on one optimizer.
  void addNamed(const Call& call) {
    const bool ofOne = call.kind == EventKind::unscale || call.kind == EventKind::clip || call.kind == EventKind::step || call.kind == EventKind::optimizerStep;
    if (ofOne && call.optimizer == kEveryOptimizer) addForEach(call.kind);
    else add(call.kind, call.optimizer);
  }
};

base::Result<std::vector<Call>> namedCalls(const Recipe& recipe) {
  std::vector<std::string> names;
  for (const auto& optimizer : recipe.optimizers) names.push_back(optimizer.name);
  std::vector<Call> calls;
  for (const std::string& text : recipe.events) {
    const auto event = session::parseRecipeEvent(text);
    if (!event) return event.error();
    Call call{event->kind, kEveryOptimizer};
    if (!event->optimizer.empty()) {
      const auto at = std::find(names.begin(), names.end(), event->optimizer);
      if (at == names.end()) return Error{ErrorKind::usage, "'" + event->optimizer + "' is no optimizer of the recipe", "events, " + text, "name " + base::quotedChoice(names)};
      call.optimizer = static_cast<int>(at - names.begin());
    }
    calls.push_back(call);
  }
  return calls;
}

}  // namespace

base::Result<std::vector<Call>> programFor(const Recipe& recipe, LoopParts parts) {
  Program program(recipe, parts);
  if (recipe.events.empty()) return program.right();
  auto named = namedCalls(recipe);
  if (!named) return named.error();
  return program.literal(named.value());
}

}  // namespace ulpscope::train
