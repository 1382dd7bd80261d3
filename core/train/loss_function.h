// The losses of a recipe. Private to core/train.
#pragma once

#include "core/engine/execution_place.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/session/recipe.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <optional>
#include <vector>

namespace ulpscope::train {

inline constexpr const char* kLossModule = "loss";  // the module path that its ops stand in

class LossFunction {
 public:
  // Error kind usage: a target that is not there; input: a script that cannot be loaded.
  static base::Result<LossFunction> make(const session::LossRecipe& recipe, const engine::LoadedModel& model, const engine::ReferenceSet& set);

  // Undefined where the model returns the loss.
  at::Tensor targetOf(const std::vector<std::int64_t>& rows) const;
  // The losses, one element each; at the place, as if a module of the path "loss" ran. Throws StepFailure (usage) where the output is not
  // there, or is no loss.
  std::vector<at::Tensor> losses(engine::ExecutionPlace& place, const c10::IValue& output, const at::Tensor& target) const;
  // The output that the loss takes.
  at::Tensor scoresOf(const c10::IValue& output) const;
  bool decides() const { return m_recipe.kind == session::LossRecipe::Kind::crossEntropy || m_recipe.kind == session::LossRecipe::Kind::nll; }

 private:
  session::LossRecipe m_recipe;
  const engine::ReferenceSet* m_set = nullptr;
  std::optional<torch::jit::Module> m_script;
  at::Tensor m_targets;  // of all samples; undefined: an input is the target, or there is none

  base::Status takeTarget(const std::vector<std::string>& inputs);
  std::vector<at::Tensor> returned(const c10::IValue& output) const;
  at::Tensor computed(const at::Tensor& scores, const at::Tensor& target) const;
};

}  // namespace ulpscope::train
