// What one run says of one op at depth 0, handed over when the runs meet. Private to core/engine.
#pragma once

#include "core/engine/execution_place.h"
#include "core/engine/policy_table.h"
#include "core/engine/values.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::engine {

struct Operand {
  std::string name;   // argument's name in the schema; "tensors[2]" in lists
  at::Tensor tensor;  // as it was before the op: a copy where the op writes it and that makes a difference
  bool onHost = false;  // a CPU scalar in a model that runs on a GPU
  at::Tensor original;  // where `tensor` is a copy: what it is a copy of
  std::int64_t version = 0;  // of the original, before the op
  std::optional<at::ScalarType> castTo;  // candidate: what the policy makes of it; empty: it is left as it is

  const at::Tensor& given() const { return original.defined() ? original : tensor; }
};

struct OpOutput {
  at::Tensor tensor;
  bool isView = false;  // aliases an input that the op does not write
  std::string viewOf;   // that input's name
};

// Good until the sink returns: the next op's event lies in the same memory.
struct OpEvent {
  ExecutionIndex index;
  std::string modulePath;
  std::string op;
  std::string overload;
  std::string source;
  int occurrence = 1;
  std::string policyClass;  // candidate only
  at::ScalarType castTo = at::kFloat;  // candidate: what lower_precision_fp made of the operands
  bool castsDown = false;
  at::ScalarType low = at::kHalf;  // candidate: the low dtype at this op
  bool autocastOn = false;  // candidate: at this op, regions included
  bool judged = true;       // false: uninitialised memory (empty*)
  bool random = false;      // draws random numbers: cannot be run again alone
  std::optional<c10::OperatorHandle> handle;
  std::vector<c10::IValue> arguments;  // as they were before the op: copies where the op writes them
  std::vector<Operand> operands;
  std::vector<OpOutput> outputs;
};

// The policy casts all operands that autocast may cast.
inline void noteCasts(OpEvent& event, at::ScalarType type) {
  for (Operand& o : event.operands)
    if (isEligible(o.tensor) && o.tensor.scalar_type() != type) o.castTo = type;
}

}  // namespace ulpscope::engine
