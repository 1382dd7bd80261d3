#include "core/engine/scan_gradient.h"

#include "core/analysis/choice.h"
#include "core/engine/run_frame.h"
#include "core/engine/stoppable_executor.h"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

struct Leaves {
  std::vector<std::string> names;
  torch::autograd::variable_list tensors;
};

// The model gets copies: it may write its inputs, and nothing may write a leaf.
Leaves watch(const ScanInputs& inputs, Arguments& arguments) {
  Leaves leaves;
  for (const std::string& name : inputs.floatingInputs()) {
    const at::Tensor leaf = arguments.at(name).toTensor().detach().clone().requires_grad_();
    arguments[name] = leaf.clone();
    leaves.names.push_back(name);
    leaves.tensors.push_back(leaf);
  }
  return leaves;
}

Error noGradient(const std::string& what) {
  return {ErrorKind::run, "no gradient of the margin reaches the inputs: " + what, "--near", "the model is not differentiable there; scan from one sample to another with --from and --to"};
}

Result<at::Tensor> scoresAt(const ScanFrame& frame, const Arguments& arguments, std::stop_token stop) {
  static const RegionSet kNoRegions;
  torch::jit::Module module = copyForRun(frame.model.module, frame.settings.trainMode);
  StoppableExecutor plain(std::make_unique<ReferenceExecutor>(), stop);
  ForwardSetup setup;
  setup.aliases = &frame.model.aliases;
  setup.regions = &kNoRegions;
  setup.executor = &plain;
  setup.seed = frame.settings.seed;
  setup.gradients = Gradients::on;
  const SideResult result = runUnder(setup, [&](ExecutionPlace&) { return module.get_method("forward")({}, arguments); }, {});
  if (stop.stop_requested()) return cancelledError();
  if (result.failed) return noGradient(result.error);
  for (const NamedTensor& output : flattenOutputs(result.value))
    if (output.name == frame.settings.decisionOutput) return output.tensor;
  return Error{ErrorKind::run, "is not given at a sample", "output '" + frame.settings.decisionOutput + "'", "choose another --decision-output"};
}

// The sum of the margins: samples do not hang on each other, so each gets the gradient of its own.
at::Tensor sumOfMargins(const at::Tensor& scores, const std::vector<analysis::MarginElements>& elements) {
  std::vector<std::int64_t> places;
  std::vector<double> weights;
  for (const analysis::MarginElements& e : elements) {
    if (e.above < 0) continue;
    places.push_back(e.above);
    weights.push_back(e.sign);
    if (e.below < 0) continue;
    places.push_back(e.below);
    weights.push_back(-e.sign);
  }
  if (places.empty()) return {};
  return (scores.contiguous().view({-1}).index_select(0, at::tensor(places, at::kLong)).to(at::kDouble) * at::tensor(weights, at::kDouble)).sum();
}

std::vector<analysis::MarginElements> elementsOf(const ScanFrame& frame, const at::Tensor& scores, std::size_t samples) {
  const HeldView held = viewOf(scores.detach());
  const int classes = analysis::classAxisOf(static_cast<int>(held.view.shape.size()), frame.sampleAxis, frame.settings.decision);
  const analysis::PositionGrid grid = analysis::positionGrid(held.view.shape, frame.sampleAxis, classes);
  std::vector<analysis::MarginElements> elements;
  for (std::size_t i = 0; i < samples; ++i) elements.push_back(analysis::marginElements(frame.settings.decision, held.view, grid, static_cast<std::int64_t>(i)));
  return elements;
}

std::vector<double> downhill(const at::Tensor& gradient, int axis, std::int64_t sample) {
  const at::Tensor own = gradient.select(axis, sample).to(at::kDouble).contiguous().view({-1}).neg();
  return {own.data_ptr<double>(), own.data_ptr<double>() + own.numel()};
}

void normalise(MarginGradient& gradient) {
  double sum = 0;
  for (const auto& [name, direction] : gradient.direction)
    for (const double d : direction) sum += d * d;
  gradient.norm = std::sqrt(sum);
  if (!gradient.skipped.empty()) gradient.norm = std::nan("");
  else if (!std::isfinite(gradient.norm)) gradient.skipped = "the margin's gradient is not finite there";
  else if (gradient.norm == 0) gradient.skipped = "the margin's gradient is zero there";
  if (!gradient.skipped.empty()) gradient.direction.clear();
  for (auto& [name, direction] : gradient.direction)
    for (double& d : direction) d /= gradient.norm;
}

}  // namespace

Result<std::vector<MarginGradient>> marginGradients(const ScanFrame& frame, const std::vector<std::int64_t>& samples, std::stop_token stop) try {
  std::vector<std::int64_t> full = samples;
  full.resize(static_cast<std::size_t>(frame.settings.batchSize), samples.back());
  Arguments arguments = argumentsFor(frame.set, full);
  const at::AutoGradMode gradients(true);
  const Leaves leaves = watch(frame.inputs, arguments);
  const auto scores = scoresAt(frame, arguments, stop);
  if (!scores) return scores.error();
  if (!scores.value().requires_grad()) return noGradient("its scores do not hang on them by differentiable ops");
  const auto elements = elementsOf(frame, scores.value(), samples.size());
  const at::Tensor sum = sumOfMargins(scores.value(), elements);
  torch::autograd::variable_list found(leaves.tensors.size());
  if (sum.defined()) found = torch::autograd::grad({sum}, leaves.tensors, {}, /*retain_graph=*/c10::nullopt, /*create_graph=*/false, /*allow_unused=*/true);
  std::vector<MarginGradient> all(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t k = 0; k < leaves.names.size(); ++k)
      all[i].direction[leaves.names[k]] = downhill(found[k].defined() ? found[k] : at::zeros_like(leaves.tensors[k]), frame.set.inputs.at(leaves.names[k]).sampleAxis, static_cast<std::int64_t>(i));
    if (elements[i].above < 0) all[i].skipped = "it has no margin there";
    normalise(all[i]);
  }
  return all;
} catch (const std::exception& e) {
  return noGradient(plainMessage(e));
}

}  // namespace ulpscope::engine
