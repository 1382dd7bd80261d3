#include "core/engine/emulated_ops.h"
#include "core/engine/executors.h"
#include "core/engine/values.h"

#include <ATen/native/TypeProperties.h>

#include <cmath>
#include <unordered_set>

namespace ulpscope::engine {
namespace {

using OnHost = std::function<bool(const at::Tensor&)>;

void forArgumentTensors(const OpCall& call, const std::function<void(const at::Tensor&)>& visit) {
  for (std::size_t i = 0; i < call.argumentCount(); ++i) forEachTensor(call.argument(i), visit);
}

bool isWritten(const c10::Argument& argument) { return argument.alias_info() && argument.alias_info()->isWrite(); }

// The tensor that out= names; empty: none, or several.
std::optional<std::size_t> outArgument(const OpCall& call) {
  const auto& arguments = call.op.schema().arguments();
  const std::size_t last = arguments.size() - 1;
  const bool one = !arguments.empty() && arguments[last].is_out() && isWritten(arguments[last]) && call.argument(last).isTensor();
  return one ? std::optional(last) : std::nullopt;
}

// Ops whose iterator checks that all dtypes are equal, out= included (build_borrowing_unary_op of TensorIterator.cpp).
bool takesOutOfItsOwnDtype(const std::string& op) {
  for (const char* name : {"abs", "neg", "floor", "ceil", "round", "trunc", "frac", "clamp", "clamp_min", "clamp_max", "pow"})
    if (op == std::string("aten::") + name) return true;
  return false;
}

at::ScalarType promoted(const OpCall& call) {
  at::native::ResultTypeState state = {};
  const auto out = outArgument(call);
  const std::size_t inputs = out ? *out : call.argumentCount();
  for (std::size_t i = 0; i < inputs; ++i)
    forEachTensor(call.argument(i), [&](const at::Tensor& t) { state = at::native::update_result_type_state(t, state); });
  const at::ScalarType type = at::native::result_type(state);
  if (out && takesOutOfItsOwnDtype(call.name())) {
    const at::ScalarType found = call.argument(*out).toTensor().scalar_type();
    TORCH_CHECK(found == type, "Found dtype ", found, " but expected ", type);
  }
  return type;
}

// PyTorch's own words for mixed dtypes (matrix products, convolutions, normalisations).
at::ScalarType sameForAll(const OpCall& call) {
  at::ScalarType type = at::ScalarType::Undefined;
  const bool castsResult = call.name() == "aten::lerp";  // its out= may have another dtype
  const auto out = castsResult ? outArgument(call) : std::nullopt;
  forArgumentTensors(call, [&](const at::Tensor& t) {
    if (out && call.argument(*out).toTensor().is_same(t)) return;
    if (!t.is_floating_point()) return;
    if (type == at::ScalarType::Undefined) type = t.scalar_type();
    TORCH_CHECK(t.scalar_type() == type, call.name(), ": expected scalar type ", type, " but found ", t.scalar_type());
  });
  return type;
}

at::ScalarType dtypeOfArgument(const OpCall& call, int argument) {
  at::ScalarType type = at::ScalarType::Undefined;
  forEachTensor(call.argument(static_cast<std::size_t>(argument)), [&](const at::Tensor& t) {
    if (type == at::ScalarType::Undefined) type = t.scalar_type();
  });
  return type;
}

std::optional<std::size_t> dtypeArgument(const OpCall& call) {
  const auto index = call.op.schema().argumentIndexWithName("dtype");
  if (!index || call.argument(static_cast<std::size_t>(*index)).isNone()) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

// cdist's way by a matrix product (Distance.cpp), which has 16-bit kernels: asked for, or p = 2 and more than 25 rows.
bool isDistanceByProduct(const OpCall& call) {
  if (call.name() != "aten::_cdist_forward" || call.argument(2).toDouble() != 2) return false;
  const std::int64_t mode = call.argument(3).isInt() ? call.argument(3).toInt() : 0;
  const auto rows = [&](std::size_t i) { return call.argument(i).toTensor().size(-2); };
  return mode == 1 || (mode == 0 && (rows(0) > 25 || rows(1) > 25));
}

// The macro AT_DISPATCH_FLOATING_TYPES of the kernel refuses a 16-bit first argument in these words.
void refuseLow(const OpCall& call, const std::string& kernel) {
  if (isDistanceByProduct(call)) throw UnsupportedOp(call.name() + " of 16-bit inputs by a matrix product has no rule and cannot be emulated");
  forArgumentTensors(call, [&](const at::Tensor& t) {
    TORCH_CHECK(!isLow(t.scalar_type()), "\"", kernel, "\" not implemented for '", c10::toString(t.scalar_type()), "'");
  });
}

at::ScalarType resultDtype(const OpCall& call, const OutputRule& rule) {
  switch (rule.kind) {
    case OutputRule::Kind::promote: return promoted(call);
    case OutputRule::Kind::follow: return dtypeOfArgument(call, rule.argument);
    case OutputRule::Kind::dtypeArg:
      if (const auto out = outArgument(call)) return call.argument(*out).toTensor().scalar_type();  // get_dtype_from_result of ReduceOpsUtils.h
      if (const auto dtype = dtypeArgument(call)) return static_cast<at::ScalarType>(call.argument(*dtype).toInt());
      return dtypeOfArgument(call, rule.argument);
    case OutputRule::Kind::same: return sameForAll(call);
    case OutputRule::Kind::fusedRnn: return at::kHalf;
    case OutputRule::Kind::unimplemented:
    case OutputRule::Kind::native: break;
  }
  TORCH_INTERNAL_ASSERT(false, "a native op is not emulated");
}

// A 0-dim float32 tensor on the device and integers are cast to the common dtype before the kernel computes; a Python scalar is not.
at::Tensor asOnDevice(const at::Tensor& t, at::ScalarType common, const OnHost& onHost) {
  if (!isLow(common) || !t.defined() || t.is_complex() || t.unsafeGetTensorImpl()->is_wrapped_number() || onHost(t)) return t;
  return t.dim() == 0 || !t.is_floating_point() ? t.to(common) : t;
}

double inTensorsDtype(double scalar, at::ScalarType type, bool checks) {
  const double rounded = roundedScalar(scalar, type);
  TORCH_CHECK(!checks || std::isfinite(rounded) || !std::isfinite(scalar), "value cannot be converted to type at::", c10::toString(type), " without overflow");
  return rounded;
}

// Arguments that the op writes, with the 16-bit tensors they stand for.
struct Written {
  std::size_t argument;
  at::Tensor original;
};

std::vector<Written> widenArguments(const OpCall& call, const OutputRule& rule, at::ScalarType common, const OnHost& onHost) {
  std::vector<Written> written;
  const auto& arguments = call.op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = call.argument(i);
    const bool writes = isWritten(arguments[i]);
    if (writes && value.isTensor() && value.toTensor().defined() && isLow(value.toTensor().scalar_type()))
      written.push_back({i, value.toTensor()});
    // A wider out= gets what the kernel rounded: it is computed beside it.
    if (writes && isLow(common) && arguments[i].is_out() && value.isTensor() && value.toTensor().scalar_type() == at::kFloat) {
      written.push_back({i, value.toTensor()});
      value = at::empty_like(value.toTensor());
    }
    if (rule.roundScalars && value.isScalar() && isLow(common)) value = inTensorsDtype(value.toScalar().toDouble(), common, rule.checkScalars);
    value = mapTensors(value, [&](const at::Tensor& t) {
      if (rule.kind == OutputRule::Kind::promote && !writes) return widen(asOnDevice(t, common, onHost));
      if (writes) return widen(t);
      const bool castFirst = rule.kind == OutputRule::Kind::dtypeArg && isLow(common) && t.scalar_type() == at::kFloat;
      return widen(castFirst ? t.to(common) : t);
    });
  }
  if (const auto dtype = dtypeArgument(call); dtype && isLow(static_cast<at::ScalarType>(call.argument(*dtype).toInt())))
    call.argument(*dtype) = static_cast<std::int64_t>(at::kFloat);
  return written;
}

// Derivatives that never look at the result (PyTorch's derivatives.yaml), and results that rounding does not change: nothing to mend there.
bool needsNoResult(const std::string& op) {
  static const std::unordered_set<std::string> names{
      "aten::convolution", "aten::_convolution", "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d",
      "aten::linear", "aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm", "aten::matmul", "aten::mv", "aten::addmv", "aten::dot", "aten::add", "aten::add_", "aten::sub",
      "aten::mul", "aten::relu", "aten::relu_", "aten::max_pool2d", "aten::max_pool2d_with_indices", "aten::avg_pool2d", "aten::adaptive_avg_pool2d", "aten::batch_norm",
      "aten::layer_norm", "aten::native_layer_norm", "aten::group_norm", "aten::embedding", "aten::cat", "aten::stack", "aten::sum", "aten::mean", "aten::gelu", "aten::silu"};
  return names.count(op) > 0;
}

// Autograd saved the float32 result where a derivative is written in terms of it (sigmoid, tanh, log_softmax): the device has the rounded one.
// variable_data() has a version counter of its own, so that the graph does not mind.
at::Tensor roundedInGraph(const OpCall& call, const at::Tensor& t, at::ScalarType type) {
  const at::Tensor rounded = roundedTo(t, type);
  if (isLow(type) && t.defined() && t.requires_grad() && t.scalar_type() == at::kFloat && t.layout() == at::kStrided && !needsNoResult(call.op.schema().name())) t.variable_data().copy_(rounded.detach());
  return rounded;
}

void roundResults(const OpCall& call, const OutputRule& rule, at::ScalarType type, const std::vector<Written>& written,
                  const std::vector<at::Tensor>& widenedWritten) {
  for (std::size_t r = 0; r < call.resultCount(); ++r) {
    c10::IValue& result = call.result(r);
    bool isWritten = false;
    for (std::size_t w = 0; w < written.size(); ++w)
      if (result.isTensor() && result.toTensor().is_same(widenedWritten[w])) {
        result = written[w].original;
        isWritten = true;
        break;
      }
    if (isWritten || (rule.firstOutputOnly && r > 0)) continue;
    if (const auto& returned = call.op.schema().returns()[r]; returned.alias_info() && returned.alias_info()->isWrite()) continue;  // float32, as the caller gave it
    result = mapTensors(result, [&](const at::Tensor& t) { return roundedInGraph(call, t, type); });
  }
}

}  // namespace

void emulate(const OpCall& call, const OutputRule& rule, const OnHost& onHost, bool splitSums) {
  if (rule.kind == OutputRule::Kind::unimplemented) refuseLow(call, rule.kernel);
  const OwnCalls own;
  const at::ScalarType type = resultDtype(call, rule);
  if (emulateSpecially(call, rule, type) || (splitSums && isLow(type) && emulateSplit(call, type))) return;
  const TakenBias taken = rule.convolution ? takeBias(call, type) : TakenBias{};
  const std::vector<Written> written = widenArguments(call, rule, type, onHost);
  std::vector<at::Tensor> widenedWritten;
  for (const Written& w : written) widenedWritten.push_back(call.argument(w.argument).toTensor());
  call.op.callBoxed(call.stack);
  for (std::size_t w = 0; w < written.size(); ++w) {
    if (written[w].original.sizes() != widenedWritten[w].sizes()) written[w].original.resize_(widenedWritten[w].sizes());
    written[w].original.copy_(roundedInGraph(call, widenedWritten[w], type));
  }
  roundResults(call, rule, type, written, widenedWritten);
  if (taken.bias.defined()) addBiasAfterRounding(call, taken, type);
}

}  // namespace ulpscope::engine
