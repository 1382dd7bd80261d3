#include "core/train/training_model.h"

#include "core/train/gradient_statistics.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>

#include <cstring>
#include <stdexcept>
#include <unordered_set>

namespace ulpscope::train {
namespace {

torch::jit::Module ownCopy(const torch::jit::Module& module) {
  const at::NoGradGuard noGrad;
  c10::IValue::HashAliasedIValueMap memo;  // finds what lies on the same memory
  for (const auto& parameter : module.named_parameters()) {
    const c10::IValue original(parameter.value);
    if (const auto known = memo.find(original); known != memo.end()) {
      const at::Tensor first = known->second.toTensor();
      if (first.sizes() != parameter.value.sizes() || first.strides() != parameter.value.strides())
        throw std::runtime_error(parameter.name + " lies on another parameter's memory in another shape, which cannot be trained");
      continue;
    }
    memo[original] = parameter.value.detach().clone(at::MemoryFormat::Preserve).set_requires_grad(parameter.value.requires_grad());
  }
  torch::jit::Module copy(module._ivalue()->deepcopy(memo));
  copy.train(true);
  return copy;
}

bool sameBytes(const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
  if (!a.is_contiguous() || !b.is_contiguous()) return a.equal(b);
  return std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

}  // namespace

TrainingModel::TrainingModel(const torch::jit::Module& module) : m_module(ownCopy(module)) {
  std::unordered_set<const void*> seen;
  for (const auto& parameter : m_module.named_parameters())
    if (seen.insert(parameter.value.unsafeGetTensorImpl()).second) m_parameters.push_back({parameter.name, parameter.value});
  for (const auto& owner : m_module.named_modules()) {
    const auto type = owner.value.type();
    for (std::size_t slot = 0; slot < type->numAttributes(); ++slot) {
      const std::string name = (owner.name.empty() ? "" : owner.name + ".") + type->getAttributeName(slot);
      const bool isBuffer = type->is_buffer(slot) && owner.value._ivalue()->getSlot(slot).isTensor();
      if (isBuffer && owner.value._ivalue()->getSlot(slot).toTensor().defined()) m_buffers.push_back({name, owner.value._ivalue(), slot});
      else if (!isBuffer && !type->is_parameter(slot) && !type->getAttribute(slot)->is_module()) m_attributes.push_back({name, owner.value._ivalue(), slot});
    }
  }
}

std::vector<std::string> TrainingModel::nonfiniteParameters() const {
  std::vector<std::string> names;
  for (const NamedParameter& parameter : m_parameters)
    if (!allFinite(parameter.tensor)) names.push_back(parameter.name);
  return names;
}

std::vector<std::size_t> ModelSnapshot::changed(const TrainingModel& model) const {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < model.buffers().size(); ++i) {
    const at::Tensor now = model.buffers()[i].value();
    if (i >= m_copies.size() || !m_copies[i].of.is_same(now) || !sameBytes(m_copies[i].value, now)) numbers.push_back(i);
  }
  return numbers;
}

void ModelSnapshot::take(const TrainingModel& model) {
  const at::NoGradGuard noGrad;
  const std::vector<std::size_t> numbers = changed(model);
  m_copies.resize(model.buffers().size());
  for (const std::size_t i : numbers) {
    const at::Tensor now = model.buffers()[i].value();
    m_copies[i] = {now, now.detach().clone()};
  }
  takeAttributes(model);
}

namespace {

// A copy of its own, except that a parameter or buffer in it stays itself (an LSTM keeps its weights in a list, too).
c10::IValue copied(const c10::IValue& value, const TrainingModel& model) {
  if (!value.isPtrType() || value.isString()) return value;
  c10::IValue::HashAliasedIValueMap memo;
  for (const NamedParameter& parameter : model.parameters()) memo[c10::IValue(parameter.tensor)] = parameter.tensor;
  for (const TrainingModel::Buffer& buffer : model.buffers()) memo[c10::IValue(buffer.value())] = buffer.value();
  return value.deepcopy(memo);
}

}  // namespace

void ModelSnapshot::takeAttributes(const TrainingModel& model) {
  m_tensors.assign(model.attributes().size(), {});
  m_values.assign(model.attributes().size(), {});
  for (std::size_t i = 0; i < m_values.size(); ++i) {
    const c10::IValue& now = model.attributes()[i].value();
    if (now.isTensor() && now.toTensor().defined()) m_tensors[i] = {now.toTensor(), now.toTensor().detach().clone()};
    else m_values[i] = copied(now, model);
  }
}

void ModelSnapshot::restoreAttributes(const TrainingModel& model) const {
  for (std::size_t i = 0; i < m_values.size(); ++i) {
    const TrainingModel::Attribute& attribute = model.attributes()[i];
    if (m_tensors[i].of.defined()) {
      m_tensors[i].of.variable_data().copy_(m_tensors[i].value);
      attribute.owner->setSlot(attribute.slot, m_tensors[i].of);
    } else {
      // A copy again: what the slot holds may be changed in place before the next restore.
      attribute.owner->setSlot(attribute.slot, copied(m_values[i], model));
    }
  }
}

void ModelSnapshot::restore(const TrainingModel& model) const {
  const at::NoGradGuard noGrad;
  for (const std::size_t i : changed(model)) {
    const TrainingModel::Buffer& buffer = model.buffers()[i];
    const Copy& copy = m_copies.at(i);
    if (!buffer.value().is_same(copy.of)) buffer.owner->setSlot(buffer.slot, copy.of);
    copy.of.variable_data().copy_(copy.value);  // has a version counter of its own: a graph that waits for its backward does not mind
  }
  restoreAttributes(model);
}

AsideScope::AsideScope(TrainingModel& model) : m_model(model) {
  m_buffers.take(model);
  for (const NamedParameter& parameter : model.parameters()) {
    m_gradients.push_back(parameter.tensor.grad());
    parameter.tensor.mutable_grad() = at::Tensor();
  }
}

AsideScope::~AsideScope() {
  for (std::size_t i = 0; i < m_gradients.size(); ++i) m_model.parameters()[i].tensor.mutable_grad() = m_gradients[i];
  m_buffers.restore(m_model);
}

}  // namespace ulpscope::train
