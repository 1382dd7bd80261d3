#include "core/train/optimizer_state.h"

#include "core/engine/raw_tensors.h"
#include "core/train/step_failure.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <sstream>
#include <type_traits>

namespace ulpscope::train {
namespace {

using storage::OptimizerState;
using storage::ParameterState;
using storage::RawTensor;
using Type = session::OptimizerRecipe::Type;

using StateMap = std::remove_reference_t<decltype(std::declval<torch::optim::Optimizer&>().state())>;

// LibTorch 1.13 names a parameter's state by its address as text, 2.x by the address.
template <typename Key>
Key keyAs(void* address) {
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << address;
    return text.str();
  } else {
    return address;
  }
}
StateMap::key_type keyOf(const at::Tensor& parameter) { return keyAs<StateMap::key_type>(parameter.unsafeGetTensorImpl()); }

void add(ParameterState& to, const char* name, const at::Tensor& tensor) {
  if (tensor.defined()) to.tensors.push_back(engine::toRaw(name, tensor));
}

template <typename State>
void addMoments(ParameterState& to, const torch::optim::OptimizerParamState& from) {
  const auto& state = static_cast<const State&>(from);
  to.step = state.step();
  add(to, "exp_avg", state.exp_avg());
  add(to, "exp_avg_sq", state.exp_avg_sq());
  add(to, "max_exp_avg_sq", state.max_exp_avg_sq());
}

// In the parameter's own layout, as the optimizer makes them; undefined: it is not there.
at::Tensor taken(const ParameterState& state, const char* name, const at::Tensor& parameter) {
  const auto found = std::find_if(state.tensors.begin(), state.tensors.end(), [&](const RawTensor& raw) { return raw.name == name; });
  if (found == state.tensors.end()) return {};
  const at::Tensor value = engine::toTensor(*found);
  if (value.sizes() != parameter.sizes())
    throw StepFailure(base::Error{base::ErrorKind::input, std::string("has another shape than the parameter: ") + name, "checkpoint, optimizer's state of " + state.name, "resume with the model that was trained"});
  return at::empty_like(parameter, value.options()).copy_(value);
}

template <typename State>
std::unique_ptr<torch::optim::OptimizerParamState> momentsFrom(const ParameterState& from, const at::Tensor& parameter) {
  auto state = std::make_unique<State>();
  state->step(from.step);
  state->exp_avg(taken(from, "exp_avg", parameter));
  state->exp_avg_sq(taken(from, "exp_avg_sq", parameter));
  state->max_exp_avg_sq(taken(from, "max_exp_avg_sq", parameter));
  return state;
}

std::unique_ptr<torch::optim::OptimizerParamState> stateFrom(const ParameterState& from, Type type, const at::Tensor& parameter) {
  if (type == Type::adam) return momentsFrom<torch::optim::AdamParamState>(from, parameter);
  if (type == Type::adamW) return momentsFrom<torch::optim::AdamWParamState>(from, parameter);
  auto state = std::make_unique<torch::optim::SGDParamState>();
  state->momentum_buffer(taken(from, "momentum_buffer", parameter));
  return state;
}

}  // namespace

OptimizerState stateOf(const TrainedOptimizer& optimizer, const TrainingModel& model) {
  OptimizerState result{optimizer.recipe.name, session::name(optimizer.recipe.type), {}};
  const StateMap& states = optimizer.optimizer->state();
  for (const std::size_t i : optimizer.parameters) {
    const NamedParameter& parameter = model.parameters()[i];
    const auto found = states.find(keyOf(parameter.tensor));
    if (found == states.end()) continue;
    ParameterState state{parameter.name, 0, {}};
    if (optimizer.recipe.type == Type::adam) addMoments<torch::optim::AdamParamState>(state, *found->second);
    else if (optimizer.recipe.type == Type::adamW) addMoments<torch::optim::AdamWParamState>(state, *found->second);
    else add(state, "momentum_buffer", static_cast<const torch::optim::SGDParamState&>(*found->second).momentum_buffer());
    result.parameters.push_back(std::move(state));
  }
  return result;
}

void restoreState(const OptimizerState& state, const TrainedOptimizer& optimizer, const TrainingModel& model) {
  const at::NoGradGuard noGrad;
  StateMap& states = optimizer.optimizer->state();
  states.clear();
  for (const ParameterState& of : state.parameters) {
    const auto taken = std::find_if(optimizer.parameters.begin(), optimizer.parameters.end(), [&](std::size_t i) { return model.parameters()[i].name == of.name; });
    if (taken == optimizer.parameters.end())
      throw StepFailure(base::Error{base::ErrorKind::input, "is no parameter of optimizer " + optimizer.recipe.name, "checkpoint, optimizer's state of " + of.name, "resume with the recipe that was trained"});
    const at::Tensor& parameter = model.parameters()[*taken].tensor;
    states[keyOf(parameter)] = stateFrom(of, optimizer.recipe.type, parameter);
  }
}

}  // namespace ulpscope::train
