#include "core/train/optimizers.h"

#include "core/base/nearest_names.h"
#include "core/train/step_failure.h"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <fmt/format.h>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using session::OptimizerRecipe;
using Type = OptimizerRecipe::Type;

template <typename Options>
Options adamOptions(const OptimizerRecipe& r) {
  return Options(r.lr).betas({r.beta1, r.beta2}).eps(r.eps).weight_decay(r.weightDecay).amsgrad(r.amsgrad);
}

std::unique_ptr<torch::optim::Optimizer> makeOptimizer(const OptimizerRecipe& r, const std::vector<at::Tensor>& parameters) {
  switch (r.type) {
    case Type::adam: return std::make_unique<torch::optim::Adam>(parameters, adamOptions<torch::optim::AdamOptions>(r));
    case Type::adamW: return std::make_unique<torch::optim::AdamW>(parameters, adamOptions<torch::optim::AdamWOptions>(r));
    case Type::sgd: break;
  }
  return std::make_unique<torch::optim::SGD>(
      parameters, torch::optim::SGDOptions(r.lr).momentum(r.momentum).dampening(r.dampening).weight_decay(r.weightDecay).nesterov(r.nesterov));
}

}  // namespace

base::Result<std::vector<std::vector<std::size_t>>> assignParameters(const std::vector<OptimizerRecipe>& optimizers, const std::vector<std::string>& names) {
  std::vector<std::vector<std::size_t>> taken(optimizers.size());
  std::vector<std::string> owner(names.size());
  for (std::size_t o = 0; o < optimizers.size(); ++o) {
    const OptimizerRecipe& optimizer = optimizers[o];
    std::vector<bool> takes(names.size(), false);
    for (const std::string& glob : optimizer.parameters) {
      bool any = false;
      for (std::size_t i = 0; i < names.size(); ++i)
        if (base::globMatches(glob, names[i])) any = takes[i] = true;
      if (!any)
        return Error{ErrorKind::usage, fmt::format("'{}' matches no parameter of the model", glob), "optimizer " + optimizer.name,
                     names.empty() ? "the model has none: was it frozen?" : "nearest: " + base::quotedChoice(base::nearestNames(glob, names))};
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!takes[i]) continue;
      if (!owner[i].empty())
        return Error{ErrorKind::usage, fmt::format("'{}' is also a parameter of optimizer {}", names[i], owner[i]), "optimizer " + optimizer.name, "give each parameter to one optimizer"};
      owner[i] = optimizer.name;
      taken[o].push_back(i);
    }
  }
  return taken;
}

void TrainedOptimizer::setRate(double lr) {
  for (auto& group : optimizer->param_groups()) group.options().set_lr(lr);
}

std::vector<TrainedOptimizer> makeOptimizers(const std::vector<OptimizerRecipe>& recipes, const TrainingModel& model) {
  std::vector<std::string> names;
  for (const NamedParameter& parameter : model.parameters()) names.push_back(parameter.name);
  const auto taken = assignParameters(recipes, names);
  if (!taken) throw StepFailure(taken.error());
  std::vector<TrainedOptimizer> optimizers;
  for (std::size_t o = 0; o < recipes.size(); ++o) {
    TrainedOptimizer made{recipes[o], taken.value()[o], {}, nullptr};
    for (const std::size_t i : made.parameters) made.tensors.push_back(model.parameters()[i].tensor);
    made.optimizer = makeOptimizer(recipes[o], made.tensors);
    optimizers.push_back(std::move(made));
  }
  return optimizers;
}

}  // namespace ulpscope::train
