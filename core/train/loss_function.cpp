#include "core/train/loss_function.h"

#include "core/base/nearest_names.h"
#include "core/engine/values.h"
#include "core/train/step_failure.h"

#include <ATen/ATen.h>

#include <fmt/format.h>

#include <exception>

namespace ulpscope::train {
namespace {

using base::Error;
using base::ErrorKind;
using session::LossRecipe;
using Kind = LossRecipe::Kind;
using Reduce = LossRecipe::Reduce;

[[noreturn]] void refuse(const std::string& what, const std::string& which, const std::string& remedy) {
  throw StepFailure(Error{ErrorKind::usage, what, which, remedy});
}

std::vector<engine::NamedTensor> floatingOutputs(const c10::IValue& output) {
  std::vector<engine::NamedTensor> floating;
  for (engine::NamedTensor& named : engine::flattenOutputs(output))
    if (named.tensor.is_floating_point()) floating.push_back(std::move(named));
  return floating;
}

// Targets of a file are a flat list; the kernel wants the output's shape. One of another size would be broadcast, which PyTorch only warns of.
at::Tensor shapedAs(const at::Tensor& target, const at::Tensor& scores) {
  const at::Tensor floating = target.is_floating_point() ? target : target.to(at::kFloat);
  if (floating.numel() != scores.numel())
    refuse("has " + engine::shapeText(floating.sizes()) + ", the output " + engine::shapeText(scores.sizes()), "loss, target", "give every element of the output a target");
  return floating.sizes() == scores.sizes() ? floating : floating.reshape(scores.sizes());
}

// What throws inside is said to have failed there: then the place stays, as it does in a model's own code.
class InLossModule {
 public:
  explicit InLossModule(engine::ExecutionPlace& place) : m_place(place), m_exceptions(std::uncaught_exceptions()) { place.enterModule(kLossModule); }
  ~InLossModule() {
    if (std::uncaught_exceptions() == m_exceptions) m_place.leaveModule();
  }
  InLossModule(const InLossModule&) = delete;
  InLossModule& operator=(const InLossModule&) = delete;

 private:
  engine::ExecutionPlace& m_place;
  int m_exceptions;
};

}  // namespace

base::Status LossFunction::takeTarget(const std::vector<std::string>& inputs) {
  const session::SampleSet& samples = m_set->samples;
  const std::string& name = m_recipe.target;
  if (m_set->inputs.count(name)) return base::success();
  if (name == "labels" && !samples.labels.empty()) {
    m_targets = at::tensor(samples.labels, at::kLong);
  } else if (name == "targets" && !samples.targets.empty()) {
    const auto count = static_cast<std::int64_t>(samples.ids.size()), each = static_cast<std::int64_t>(samples.targets.size()) / count;
    m_targets = at::tensor(samples.targets, at::kDouble).to(at::kFloat);
    if (each > 1) m_targets = m_targets.view({count, each});
  } else if (name == "targets" && !samples.labels.empty()) {
    m_targets = at::tensor(samples.labels, at::kLong);
  } else {
    return Error{ErrorKind::usage, fmt::format("'{}' is neither an input nor labels or targets of {}", name, samples.labelsPath.empty() ? samples.path : samples.labelsPath), "loss, target",
                 "name one of " + base::quotedChoice(base::nearestNames(name, inputs)) + ", or put the truth into the inputs file or \"labels\""};
  }
  return base::success();
}

base::Result<LossFunction> LossFunction::make(const LossRecipe& recipe, const engine::LoadedModel& model, const engine::ReferenceSet& set) {
  LossFunction loss;
  loss.m_recipe = recipe;
  loss.m_set = &set;
  if (recipe.kind == Kind::output) return loss;
  std::vector<std::string> inputs;
  for (const auto& argument : model.info.arguments) inputs.push_back(argument.name);
  if (auto target = loss.takeTarget(inputs); !target) return target.error();
  if (recipe.kind != Kind::script) return loss;
  auto script = engine::loadModel(recipe.script);
  if (!script) return script.error().within("loss");
  loss.m_script = engine::copyForRun(script->module, /*trainMode=*/true);
  return loss;
}

at::Tensor LossFunction::targetOf(const std::vector<std::int64_t>& rows) const {
  if (m_recipe.kind == Kind::output) return {};
  const at::Tensor index = at::tensor(rows, at::kLong);
  if (m_targets.defined()) return m_targets.index_select(0, index);
  const engine::InputTensor& input = m_set->inputs.at(m_recipe.target);
  if (!input.tensor.defined()) return at::scalar_tensor(input.constant.toScalar());
  return input.sampleAxis < 0 ? input.tensor : input.tensor.index_select(input.sampleAxis, index);
}

at::Tensor LossFunction::scoresOf(const c10::IValue& output) const {
  const std::vector<engine::NamedTensor> outputs = floatingOutputs(output);
  std::vector<std::string> names;
  for (const engine::NamedTensor& named : outputs) {
    if (m_recipe.output.empty() || named.name == m_recipe.output || named.name == "output." + m_recipe.output) return named.tensor;
    names.push_back(named.name);
  }
  refuse(m_recipe.output.empty() ? "the model returns no floating tensor" : "'" + m_recipe.output + "' is no output of the model", "loss, output", names.empty() ? "" : "name " + base::quotedChoice(names));
}

std::vector<at::Tensor> LossFunction::returned(const c10::IValue& output) const {
  std::vector<at::Tensor> losses;
  for (const engine::NamedTensor& named : floatingOutputs(output)) {
    if (!m_recipe.output.empty() && named.name != m_recipe.output && named.name != "output." + m_recipe.output) continue;
    const at::Tensor& t = named.tensor;
    if (m_recipe.reduce == Reduce::none && t.numel() != 1)
      refuse(fmt::format("the model returns {} {}, which is no loss", named.name, engine::shapeText(t.sizes())), "loss", "write {\"output\": true, \"reduce\": \"sum\"} or name a kind of loss");
    losses.push_back(m_recipe.reduce == Reduce::sum ? t.sum() : m_recipe.reduce == Reduce::mean ? t.mean() : t);
  }
  if (losses.empty()) refuse("the model returns no such loss", "loss", "check \"output\"");
  return losses;
}

at::Tensor LossFunction::computed(const at::Tensor& scores, const at::Tensor& target) const {
  const std::int64_t reduction = m_recipe.reduce == Reduce::sum ? at::Reduction::Sum : at::Reduction::Mean;
  switch (m_recipe.kind) {
    case Kind::crossEntropy: return at::cross_entropy_loss(scores, target, {}, reduction);
    case Kind::nll: return at::nll_loss_nd(scores, target, {}, reduction);
    case Kind::mse: return at::mse_loss(scores, shapedAs(target, scores), reduction);
    case Kind::l1: return at::l1_loss(scores, shapedAs(target, scores), reduction);
    case Kind::smoothL1: return at::smooth_l1_loss(scores, shapedAs(target, scores), reduction);
    case Kind::bceWithLogits: return at::binary_cross_entropy_with_logits(scores, shapedAs(target, scores), {}, {}, reduction);
    case Kind::bce: return at::binary_cross_entropy(scores, shapedAs(target, scores), {}, reduction);
    case Kind::output:
    case Kind::script: break;
  }
  return torch::jit::Module(*m_script).forward({scores, target}).toTensor();
}

std::vector<at::Tensor> LossFunction::losses(engine::ExecutionPlace& place, const c10::IValue& output, const at::Tensor& target) const {
  const InLossModule inside(place);
  const c10::IValue given = place.crossBorder(output);
  if (m_recipe.kind == Kind::output) return returned(given);
  return {computed(scoresOf(given), target.defined() ? place.crossBorder(target).toTensor() : target)};
}

}  // namespace ulpscope::train
