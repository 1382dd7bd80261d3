#include "core/train/module_state.h"

#include "core/base/number_text.h"
#include "core/engine/raw_tensors.h"
#include "core/engine/values.h"
#include "core/train/step_failure.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace ulpscope::train {
namespace {

using nlohmann::json;
using storage::RawTensor;

[[noreturn]] void refuse(const std::string& what, const std::string& which) {
  throw StepFailure(base::Error{base::ErrorKind::input, what, "checkpoint, " + which, "resume with the model that was trained"});
}

bool isPlain(const c10::IValue& value) { return value.isInt() || value.isDouble() || value.isBool() || value.isString(); }

json toJson(const c10::IValue& value) {
  if (value.isInt()) return {{"int", value.toInt()}};
  if (value.isDouble()) return {{"float", base::jsonNumber(value.toDouble())}};
  if (value.isBool()) return {{"bool", value.toBool()}};
  return {{"str", value.toStringRef()}};
}

c10::IValue valueFrom(const json& j, const std::string& name) {
  if (!j.is_object() || j.size() != 1) refuse("is no value", name);
  const auto& [kind, value] = *j.items().begin();
  if (kind == "int") return value.get<std::int64_t>();
  if (kind == "float") return base::numberFromJson(value);
  if (kind == "bool") return value.get<bool>();
  if (kind != "str") refuse("is of the kind '" + kind + "', which this version does not know", name);
  return value.get<std::string>();
}

// The tensor in place, so that what shares it sees it; a copy of its own where it cannot be.
at::Tensor written(const at::Tensor& place, const RawTensor& raw) {
  const at::Tensor value = engine::toTensor(raw);
  if (!place.defined() || place.sizes() != value.sizes() || place.scalar_type() != value.scalar_type()) return value;
  place.variable_data().copy_(value);
  return place;
}

const RawTensor* named(const std::vector<RawTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const RawTensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

void checkShape(const RawTensor* raw, const NamedParameter& parameter) {
  if (!raw) refuse("is not in it", "parameter " + parameter.name);
  const auto sizes = parameter.tensor.sizes();
  if (raw->shape != sizes.vec() || raw->dtype != engine::dtypeOf(parameter.tensor.scalar_type())) refuse("has another shape or dtype than the model's", "parameter " + parameter.name);
}

}  // namespace

std::map<std::string, std::string> ModuleAttributes::others() const {
  std::map<std::string, std::string> pickled;
  for (const Attribute& attribute : m_model.attributes()) {
    const c10::IValue& value = attribute.value();
    if (isPlain(value) || value.isTensor()) continue;
    std::string& text = pickled[attribute.name];
    try {
      std::vector<at::Tensor> tensors;
      const std::vector<char> bytes = torch::jit::pickle(value, &tensors);
      text.assign(bytes.begin(), bytes.end());
      for (const at::Tensor& tensor : tensors) {
        if (isHeldElsewhere(tensor)) continue;
        const RawTensor raw = engine::toRaw("", tensor);
        text.append(reinterpret_cast<const char*>(raw.bytes.data()), raw.bytes.size());
      }
    } catch (const std::exception&) {
      text.clear();
    }
  }
  return pickled;
}

// A list of a module's own parameters (an LSTM's) changes with them, and is put back with them.
bool ModuleAttributes::isHeldElsewhere(const at::Tensor& tensor) const {
  const auto same = [&](const at::Tensor& other) { return tensor.has_storage() && other.has_storage() && tensor.storage().is_alias_of(other.storage()); };
  return std::any_of(m_model.parameters().begin(), m_model.parameters().end(), [&](const NamedParameter& p) { return same(p.tensor); }) ||
         std::any_of(m_model.buffers().begin(), m_model.buffers().end(), [&](const TrainingModel::Buffer& b) { return same(b.value()); });
}

std::string ModuleAttributes::unholdable() const {
  for (const auto& [name, text] : others()) {
    const auto before = m_others.find(name);
    if (text.empty() || before == m_others.end() || before->second != text) return name;
  }
  return "";
}

void ModuleAttributes::write(storage::TrainingCheckpoint& checkpoint) const {
  json plain = json::object();
  for (const Attribute& attribute : m_model.attributes()) {
    const c10::IValue& value = attribute.value();
    if (isPlain(value)) plain[attribute.name] = toJson(value);
    if (value.isTensor() && engine::isReadable(value.toTensor())) checkpoint.tensorAttributes.push_back(engine::toRaw(attribute.name, value.toTensor()));
  }
  checkpoint.attributes = plain.dump();
}

void ModuleAttributes::restore(const storage::TrainingCheckpoint& checkpoint) const {
  const at::NoGradGuard noGrad;
  std::map<std::string, Attribute> known;
  for (const Attribute& attribute : m_model.attributes()) known.emplace(attribute.name, attribute);
  const auto place = [&](const std::string& name) -> const Attribute& {
    const auto found = known.find(name);
    if (found == known.end()) refuse("is no attribute of the model", name);
    return found->second;
  };
  const json plain = json::parse(checkpoint.attributes, nullptr, /*allow_exceptions=*/false);
  if (!plain.is_object()) refuse("cannot be read", "attributes");
  for (const auto& [name, value] : plain.items()) {
    const Attribute& attribute = place(name);
    const c10::IValue now = valueFrom(value, name);
    if (!now.type()->isSubtypeOf(*attribute.owner->type()->getAttribute(attribute.slot))) refuse("is of another type than the model's", name);
    attribute.owner->setSlot(attribute.slot, now);
  }
  for (const RawTensor& raw : checkpoint.tensorAttributes) {
    const Attribute& attribute = place(raw.name);
    const c10::IValue value = attribute.value();
    if (!value.isTensor()) refuse("is no tensor of the model", raw.name);
    attribute.owner->setSlot(attribute.slot, written(value.toTensor(), raw));
  }
}

void writeTensors(const TrainingModel& model, Gradients gradients, storage::TrainingCheckpoint& checkpoint) {
  for (const NamedParameter& parameter : model.parameters()) {
    checkpoint.parameters.push_back(engine::toRaw(parameter.name, parameter.tensor));
    const at::Tensor& gradient = parameter.tensor.grad();
    if (gradients == Gradients::included && gradient.defined()) checkpoint.gradients.push_back(engine::toRaw(parameter.name, gradient.is_sparse() ? gradient.to_dense() : gradient));
  }
  for (const TrainingModel::Buffer& buffer : model.buffers()) checkpoint.buffers.push_back(engine::toRaw(buffer.name, buffer.value()));
}

void restoreTensors(const storage::TrainingCheckpoint& checkpoint, const TrainingModel& model) {
  const at::NoGradGuard noGrad;
  if (checkpoint.parameters.size() != model.parameters().size() || checkpoint.buffers.size() != model.buffers().size()) refuse("are not as many as the model's", "parameters and buffers");
  for (const NamedParameter& parameter : model.parameters()) {
    const RawTensor* raw = named(checkpoint.parameters, parameter.name);
    checkShape(raw, parameter);
    parameter.tensor.variable_data().copy_(engine::toTensor(*raw));
    const RawTensor* gradient = named(checkpoint.gradients, parameter.name);
    if (gradient) checkShape(gradient, parameter);
    parameter.tensor.mutable_grad() = gradient ? engine::toTensor(*gradient) : at::Tensor();
  }
  for (const TrainingModel::Buffer& buffer : model.buffers()) {
    const RawTensor* raw = named(checkpoint.buffers, buffer.name);
    if (!raw) refuse("is not in it", "buffer " + buffer.name);
    buffer.owner->setSlot(buffer.slot, written(buffer.value(), *raw));
  }
}

}  // namespace ulpscope::train
