// Ops that CUDA rounds more than once, and when a convolution's bias is added. Private to core/engine; used by emulation.cpp.
#pragma once

#include "core/engine/interception.h"
#include "core/engine/output_rules.h"
#include "core/engine/values.h"

namespace ulpscope::engine {

// float32 in place of a 16-bit tensor; any other is left.
inline at::Tensor widen(const at::Tensor& t) { return t.defined() && isLow(t.scalar_type()) ? t.to(at::kFloat) : t; }
// A float32 tensor rounded to a 16-bit type; any other is left, and so is it where `type` is none.
inline at::Tensor roundedTo(const at::Tensor& t, at::ScalarType type) { return t.defined() && t.scalar_type() == at::kFloat && isLow(type) ? t.to(type) : t; }
// Once, from double.
double roundedScalar(double scalar, at::ScalarType type);

// Runs the op where its rule names a special way (rule.special) and that way applies; then the result lies on the stack.
bool emulateSpecially(const OpCall& call, const OutputRule& rule, at::ScalarType type);

// The bias of a convolution that CUDA adds after it rounded the sum: cuDNN's way. The native depthwise kernels add it to the float32 sum.
struct TakenBias {
  at::Tensor bias;  // undefined: stays in the kernel, or there is none
  std::int64_t channelDim = 1;
};
// Takes it out of the arguments. type: the dtype that the convolution runs in.
TakenBias takeBias(const OpCall& call, at::ScalarType type);
void addBiasAfterRounding(const OpCall& call, const TakenBias& taken, at::ScalarType type);

}  // namespace ulpscope::engine
