// How an op is run: the reference plainly, the candidate under a policy with emulation. Private to core/engine.
#pragma once

#include "core/engine/op_observer.h"
#include "core/engine/output_rules.h"
#include "core/engine/policy_table.h"
#include "core/engine/regions.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace ulpscope::engine {

// Autocast's semantics by a policy table, on CPU kernels. Tensors carry their true dtypes; an op in the low dtype is computed in float32 from rounded
// inputs and its result rounded once (to nearest even, overflow to infinity, subnormals kept), twice where the table's device does.
class EmulatedExecutor : public OpExecutor {
 public:
  struct Options {
    const PolicyTable* table = nullptr;
    at::ScalarType low = at::kHalf;
    const RegionSet* regions = nullptr;
    bool castCache = true;
    bool splitSums = false;  // long sums of products in parts that are rounded (session::Accumulate::pessimistic)
  };
  explicit EmulatedExecutor(Options options) : m_options(options) {}

  void execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) override;
  // Whether the op is given 16-bit tensors or asked for one.
  bool touchesLow(const OpCall& call);
  // The op in the dtypes it is given, whatever autocast would do.
  void executeWithoutAutocast(const OpCall& call, const ExecutionPlace& place) { runWithPolicy(call, factsOf(call), {PolicyClass::none, false}, place); }
  bool namesOps() const override { return m_options.regions->hasOpPatterns(); }
  std::int64_t loweredOps() const override { return m_loweredOps; }
  // As torch.autocast's __exit__ does: weights that an optimizer changed are cast anew.
  void forgetCasts() { m_castCache.clear(); }

 private:
  // What hangs on the op alone.
  struct OpFacts {
    PolicyClass policyClass;
    std::string className;
    std::optional<OutputRule> rule;
    bool composite, view, dropout, fusedRnn;
    std::optional<std::size_t> dtypeArgument;  // an explicit dtype=
    bool fourier = false;      // CUDA has 16-bit kernels for some sizes
    bool fusedLinear = false;  // a linear layer that later series compute with its bias in one kernel, whatever the rank
  };
  struct Policy {
    PolicyClass policyClass;
    bool on;  // autocast at this op
  };

  Options m_options;
  int m_autocastSuspended = 0;  // inside a composite op that is listed (its inner ops are not cast again) or an FP32 region itself
  std::int64_t m_loweredOps = 0;
  std::unordered_map<const void*, std::pair<at::Tensor, at::Tensor>> m_castCache;  // parameter -> (kept alive, cast)

  at::ScalarType m_low = at::kHalf;  // at the running op

  std::unordered_map<const void*, OpFacts> m_facts;  // by schema

  const OpFacts& factsOf(const OpCall& call);
  std::optional<OutputRule> ruleFor(const OpCall& call, const OpFacts& facts, Policy policy) const;
  Policy policyFor(const OpCall& call, const OpFacts& facts, const ExecutionPlace& place, OpEvent* event);
  void applyPolicy(const OpCall& call, PolicyClass policyClass);
  void noteCasts(const OpCall& call, PolicyClass policyClass, OpEvent& event) const;
  void runWithPolicy(const OpCall& call, const OpFacts& facts, Policy policy, const ExecutionPlace& place);
  void enter(const OpCall& call, Policy policy);
  void castArguments(const OpCall& call, at::ScalarType type, std::size_t count);
  at::Tensor castCached(const at::Tensor& tensor, at::ScalarType type);
};

// FP32 as PyTorch runs it; an executor serves one thread. Ops that the model itself gives 16-bit tensors are emulated, since the CPU has no kernels for many of them.
class ReferenceExecutor : public OpExecutor {
 public:
  ReferenceExecutor();
  void execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) override;
  // "aten::relu in encoder.0"; empty: all was FP32.
  const std::string& firstLowOp() const { return m_firstLowOp; }

 private:
  EmulatedExecutor m_emulated;
  std::string m_firstLowOp;
};

// Emulates one op whose arguments hold 16-bit tensors; results lie on the stack. Throws c10::Error with PyTorch's words when the op
// would raise on mixed dtypes. onHost tells the 0-dim tensors that the kernel reads unrounded (CUDA; on the CPU it reads none so).
void emulate(const OpCall& call, const OutputRule& rule, const std::function<bool(const at::Tensor&)>& onHost, bool splitSums = false);

// Instead of it: the op's result where its sums are long enough to be split, in parts of at least 256 products and at most 16 of them,
// each rounded to the low dtype and added up there. False: no such op, or too short.
bool emulateSplit(const OpCall& call, at::ScalarType type);

}  // namespace ulpscope::engine
