#include "core/train/training_frame.h"

#include <torch/version.h>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::Recipe;

Result<const engine::PolicyTable*> nativeTable(const session::AutocastRecipe& autocast) {
  const engine::PolicyTable& own = TORCH_VERSION_MAJOR >= 2 ? engine::cpu26() : engine::cpu113();
  if (autocast.dtype == base::DType::float16)
    return Error{ErrorKind::usage, "trains in BF16 on the CPU alone", "autocast, mode native", "write \"dtype\": \"bfloat16\", or \"mode\": \"emulated\""};
  if (autocast.policyTable != "cuda" && autocast.policyTable != "cpu" && autocast.policyTable != own.name())
    return Error{ErrorKind::usage, "does not go with mode native, which follows LibTorch " TORCH_VERSION "'s own lists for the CPU", "autocast, policy " + autocast.policyTable, "leave it out, or write \"mode\": \"emulated\""};
  return &own;
}

Result<const engine::PolicyTable*> tableFor(const Recipe& recipe) {
  const session::AutocastRecipe autocast = recipe.autocast.value_or(session::AutocastRecipe{});
  return autocast.mode == session::Mode::native ? nativeTable(autocast) : engine::findPolicyTable(autocast.policyTable);
}

}  // namespace

Result<std::unique_ptr<LoadedTraining>> LoadedTraining::load(const Recipe& recipe) {
  auto loaded = std::make_unique<LoadedTraining>();
  auto table = tableFor(recipe);
  if (!table) return table.error();
  loaded->table = table.value();
  auto model = engine::loadModel(recipe.model);
  if (!model) return model.error();
  loaded->model = std::move(model).value();
  session::RunRequest request;
  request.modelPath = recipe.model;
  request.inputsPath = recipe.inputs;
  request.labelsPath = recipe.labels;
  auto set = engine::loadReferenceSet(request, loaded->model);
  if (!set) return set.error();
  loaded->set = std::move(set).value();
  auto loss = LossFunction::make(recipe.loss, loaded->model, loaded->set);
  if (!loss) return loss.error();
  loaded->loss = std::move(loss).value();
  return loaded;
}

}  // namespace ulpscope::train
