#include "core/train/gradient_probe.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <optional>

namespace ulpscope::train {
namespace {

using torch::autograd::variable_list;

ProbedSite siteOf(const engine::OpEvent& event, bool inLoss, int output) { return {inLoss, event.index, output, event.op, event.modulePath, event.source, event.occurrence}; }

}  // namespace

// On the node itself: what an op wrote in place has a node of its own, while a tensor has but one.
class GradientProbe::Hook : public torch::autograd::FunctionPreHook {
 public:
  Hook(std::shared_ptr<Link> link, std::uint32_t input, std::size_t number, bool ofParameter)
      : m_link(std::move(link)), m_input(input), m_number(number), m_ofParameter(ofParameter) {}

  variable_list operator()(const variable_list& gradients) override {
    if (!m_link->probe || m_input >= gradients.size() || !gradients[m_input].defined()) return gradients;
    const auto& told = m_ofParameter ? m_link->probe->onParameter : m_link->probe->onSite;
    if (told) told(m_number, gradients[m_input]);
    return gradients;
  }

 private:
  std::shared_ptr<Link> m_link;
  std::uint32_t m_input;
  std::size_t m_number;
  bool m_ofParameter;
};

GradientProbe::GradientProbe(const TrainingModel& model) : m_link(std::make_shared<Link>(Link{this})) {
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const at::Tensor& parameter = model.parameters()[i].tensor;
    m_parameters.emplace(parameter.unsafeGetTensorImpl(), i);
    if (!parameter.requires_grad()) continue;
    const auto node = torch::autograd::impl::grad_accumulator(parameter);
    node->add_pre_hook(std::make_unique<Hook>(m_link, 0, i, true));
    m_accumulators.push_back(node);
  }
}

GradientProbe::~GradientProbe() { m_link->probe = nullptr; }

void GradientProbe::watch(engine::OpEvent& event, bool inLoss) {
  for (const engine::Operand& operand : event.operands)
    if (const auto found = m_parameters.find(operand.tensor.unsafeGetTensorImpl()); found != m_parameters.end())
      m_readers[found->second] = siteOf(event, inLoss, 0);
  std::optional<std::size_t> viewed;  // the site whose output a view of this op shows
  for (const engine::Operand& operand : event.operands) {
    const auto found = m_outputs.find(operand.tensor.unsafeGetTensorImpl());
    if (found == m_outputs.end()) continue;
    if (!viewed) viewed = found->second.site;
    if (event.judged) m_consumers[found->second.site] = siteOf(event, inLoss, 0);
  }
  if (onForward) onForward(event, m_sites.size());
  for (std::size_t i = 0; i < event.outputs.size(); ++i) {
    const engine::OpOutput& output = event.outputs[i];
    if (output.isView && viewed) m_outputs.insert_or_assign(output.tensor.unsafeGetTensorImpl(), Output{*viewed, output.tensor});
    if (output.isView || !event.judged || !output.tensor.is_floating_point() || !output.tensor.requires_grad()) continue;
    const auto& node = output.tensor.grad_fn();
    if (!node) continue;
    node->add_pre_hook(std::make_unique<Hook>(m_link, output.tensor.output_nr(), m_sites.size(), false));
    m_outputs.insert_or_assign(output.tensor.unsafeGetTensorImpl(), Output{m_sites.size(), output.tensor});
    m_sites.push_back(siteOf(event, inLoss, static_cast<int>(i)));
  }
}

const ProbedSite* GradientProbe::consumerOf(std::size_t site) const {
  const auto found = m_consumers.find(site);
  return found == m_consumers.end() ? nullptr : &found->second;
}

const ProbedSite* GradientProbe::readerOf(std::size_t parameter) const {
  const auto found = m_readers.find(parameter);
  return found == m_readers.end() ? nullptr : &found->second;
}

}  // namespace ulpscope::train
