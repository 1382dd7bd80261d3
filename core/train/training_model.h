// A model that one trajectory trains: its own parameters and buffers. Private to core/train.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::train {

struct NamedParameter {
  std::string name;
  at::Tensor tensor;
};

class TrainingModel {
 public:
  // A copy in train mode. Tensors that lie on each other stay one: tied weights are one parameter, named as its first place. Throws
  // std::runtime_error where parameters share memory in different shapes.
  explicit TrainingModel(const torch::jit::Module& module);

  torch::jit::Module& module() { return m_module; }
  const std::vector<NamedParameter>& parameters() const { return m_parameters; }  // as named_parameters(), each once
  std::vector<std::string> nonfiniteParameters() const;

  struct Buffer {
    std::string name;
    c10::intrusive_ptr<c10::ivalue::Object> owner;
    std::size_t slot;
    at::Tensor value() const { return owner->getSlot(slot).toTensor(); }
  };
  const std::vector<Buffer>& buffers() const { return m_buffers; }

  // What a module holds that is neither parameter, buffer nor module: counters, flags, texts, lists, plain tensors.
  struct Attribute {
    std::string name;
    c10::intrusive_ptr<c10::ivalue::Object> owner;
    std::size_t slot;
    const c10::IValue& value() const { return owner->getSlot(slot); }
  };
  const std::vector<Attribute>& attributes() const { return m_attributes; }

 private:
  torch::jit::Module m_module;
  std::vector<NamedParameter> m_parameters;
  std::vector<Buffer> m_buffers;
  std::vector<Attribute> m_attributes;
};

// Buffers and attributes as they stood when take() was called last. Which buffers changed is told by the bytes: kernels write running statistics
// without a version counter's knowing.
class ModelSnapshot {
 public:
  void take(const TrainingModel& model);
  void restore(const TrainingModel& model) const;
  // Numbers of the buffers that are not as they were.
  std::vector<std::size_t> changed(const TrainingModel& model) const;

 private:
  struct Copy {
    at::Tensor of, value;  // `of` is kept alive, so that its address means one tensor
  };
  std::vector<Copy> m_copies;
  std::vector<Copy> m_tensors;         // one an attribute; undefined where it is no tensor
  std::vector<c10::IValue> m_values;   // the other attributes, containers copied whole

  void takeAttributes(const TrainingModel& model);
  void restoreAttributes(const TrainingModel& model) const;
};

// Takes gradients away while it lives, and puts them, the buffers and the attributes back: a step can be run again without a trace.
class AsideScope {
 public:
  explicit AsideScope(TrainingModel& model);
  ~AsideScope();
  AsideScope(const AsideScope&) = delete;
  AsideScope& operator=(const AsideScope&) = delete;

 private:
  TrainingModel& m_model;
  std::vector<at::Tensor> m_gradients;
  ModelSnapshot m_buffers;
};

}  // namespace ulpscope::train
