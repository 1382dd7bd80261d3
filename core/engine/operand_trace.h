// Where the operands of each op site came from, within one forward. Private to core/engine.
#pragma once

#include "core/engine/lockstep.h"
#include "core/engine/module_returns.h"
#include "core/session/site_operands.h"

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace ulpscope::engine {

// What made a tensor: an input, a parameter, an output of an op.
struct Origin {
  session::SiteOperand::From from = session::SiteOperand::From::unknown;
  std::string name;  // of the input or parameter
  SiteKey site;
  bool operator==(const Origin&) const = default;
};

// The living tensors of one run and what made them. A dead tensor's address may come again: entries die with theirs; and an entry
// counts only while the tensor's version counter stands where it stood then. Used by the thread that runs the forward, or by
// whoever holds it still.
class Origins {
 public:
  void parameters(const torch::jit::Module& module);  // and buffers
  void input(const std::string& name, const c10::IValue& value);
  void made(const at::Tensor& tensor, const SiteKey& site);
  // An op that gave back the tensor that it was given: what made it did make it, but so may be said of that op.
  void handedOn(const at::Tensor& tensor, const SiteKey& site);
  void same(const at::Tensor& from, const at::Tensor& cast);  // the cast stands for it, wherever the other run has no cast
  void forget(const at::Tensor& tensor);
  void clear() { m_entries.clear(); }
  // First what made it, then who handed it on; nullptr: unknown. version: at which it was read.
  const std::vector<Origin>* find(const at::Tensor& tensor, std::int64_t version) const;

 private:
  struct Entry {
    c10::weak_intrusive_ptr<c10::TensorImpl> alive;
    std::int64_t version = 0;
    std::vector<Origin> origins;
  };
  std::unordered_map<const void*, Entry> m_entries;

  void put(const at::Tensor& tensor, std::vector<Origin> origins);
};

// Follows both runs through one forward; told of each op when they meet. What they do not agree on is unknown.
class OperandTrace {
 public:
  void begin(const torch::jit::Module& reference, const torch::jit::Module& candidate);
  void end();
  Origins& of(Side side) { return m_origins[static_cast<int>(side)]; }

  void meet(const OpEvent& reference, const OpEvent& candidate);
  void alone(Side side, const OpEvent& event);
  // Of the op at the index; numbers: of the sites in RunRecord::sites. Empty: it was not met.
  std::optional<session::SiteOperands> describe(const ExecutionIndex& index, const std::map<SiteKey, std::int64_t>& numbers) const;

 private:
  struct Traced {
    session::SiteOperand operand;  // without its site's number
    SiteKey site;
  };
  struct Op {
    std::vector<Traced> listed;
    std::int64_t count = 0;
  };
  bool m_isOn = false;
  Origins m_origins[2];
  std::map<ExecutionIndex, Op> m_ops;

  Op operandsOf(const OpEvent& reference, const OpEvent& candidate) const;
  Origin commonOrigin(const Operand& reference, const Operand& candidate) const;
  static void noteOutputs(Origins& origins, const OpEvent& event);
};

}  // namespace ulpscope::engine
