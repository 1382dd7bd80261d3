#include "core/engine/executors.h"
#include "core/engine/values.h"

#include <ATen/native/TypeProperties.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::engine {
namespace {

using OnHost = std::function<bool(const at::Tensor&)>;

at::Tensor widen(const at::Tensor& t) { return t.defined() && isLow(t.scalar_type()) ? t.to(at::kFloat) : t; }
at::Tensor roundedTo(const at::Tensor& t, at::ScalarType type) {
  return t.defined() && t.scalar_type() == at::kFloat && isLow(type) ? t.to(type) : t;
}

void forArgumentTensors(const OpCall& call, const std::function<void(const at::Tensor&)>& visit) {
  for (std::size_t i = 0; i < call.argumentCount(); ++i) forEachTensor(call.argument(i), visit);
}

at::ScalarType promoted(const OpCall& call) {
  at::native::ResultTypeState state = {};
  forArgumentTensors(call, [&](const at::Tensor& t) { state = at::native::update_result_type_state(t, state); });
  return at::native::result_type(state);
}

// PyTorch's own words for mixed dtypes (matrix products, convolutions, normalisations).
at::ScalarType sameForAll(const OpCall& call) {
  at::ScalarType type = at::ScalarType::Undefined;
  forArgumentTensors(call, [&](const at::Tensor& t) {
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

at::ScalarType resultDtype(const OpCall& call, const OutputRule& rule) {
  switch (rule.kind) {
    case OutputRule::Kind::promote: return promoted(call);
    case OutputRule::Kind::follow: return dtypeOfArgument(call, rule.argument);
    case OutputRule::Kind::dtypeArg:
      if (const auto dtype = dtypeArgument(call)) return static_cast<at::ScalarType>(call.argument(*dtype).toInt());
      return dtypeOfArgument(call, rule.argument);
    case OutputRule::Kind::same: return sameForAll(call);
    case OutputRule::Kind::fusedRnn: return at::kHalf;
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
  const double rounded = at::scalar_tensor(scalar, at::kDouble).to(type).item<double>();
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
    const bool writes = arguments[i].alias_info() && arguments[i].alias_info()->isWrite();
    if (writes && value.isTensor() && value.toTensor().defined() && isLow(value.toTensor().scalar_type()))
      written.push_back({i, value.toTensor()});
    if (rule.roundScalars && value.isScalar() && isLow(common)) value = inTensorsDtype(value.toScalar().toDouble(), common, rule.checkScalars);
    value = mapTensors(value, [&](const at::Tensor& t) {
      if (rule.kind == OutputRule::Kind::promote && !writes) return widen(asOnDevice(t, common, onHost));
      const bool castFirst = rule.kind == OutputRule::Kind::dtypeArg && isLow(common) && t.scalar_type() == at::kFloat;
      return widen(castFirst ? t.to(common) : t);
    });
  }
  if (const auto dtype = dtypeArgument(call); dtype && isLow(static_cast<at::ScalarType>(call.argument(*dtype).toInt())))
    call.argument(*dtype) = static_cast<std::int64_t>(at::kFloat);
  return written;
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
    result = mapTensors(result, [&](const at::Tensor& t) { return roundedTo(t, type); });
  }
}

// The native depthwise kernels add the bias to the float32 sum before they round (DepthwiseConv2d.cu, which 1-D inputs take as
// well, and DepthwiseConv3d.cu).
bool isDepthwise(const at::Tensor& input, const at::Tensor& weight, std::int64_t groups) {
  const std::int64_t channels = input.size(input.dim() == weight.dim() ? 1 : 0);
  return groups > 1 && groups == channels && weight.size(0) % groups == 0;
}

struct TakenBias {
  at::Tensor bias;          // undefined: stays in the kernel, or there is none
  std::int64_t channelDim = 1;
};

// Takes the bias out of a convolution's arguments where CUDA adds it after the rounding.
TakenBias takeBias(const OpCall& call) {
  const auto& schema = call.op.schema();
  const auto bias = schema.argumentIndexWithName("bias");
  const auto groups = schema.argumentIndexWithName("groups");
  const auto transposed = schema.argumentIndexWithName("transposed");
  if (!bias || call.name() == "aten::conv_tbc") return {};
  c10::IValue& value = call.argument(static_cast<std::size_t>(*bias));
  if (!value.isTensor() || !value.toTensor().defined()) return {};
  const at::Tensor input = call.argument(0).toTensor();
  const at::Tensor weight = call.argument(1).toTensor();
  const bool isTransposed = call.name().find("transpose") != std::string::npos ||
                            (transposed && call.argument(static_cast<std::size_t>(*transposed)).toBool());
  const std::int64_t groupCount = groups ? call.argument(static_cast<std::size_t>(*groups)).toInt() : 1;
  if (!isTransposed && isDepthwise(input, weight, groupCount)) return {};
  const TakenBias taken{value.toTensor(), input.dim() == weight.dim() ? 1 : 0};  // 0: an unbatched input
  value = c10::IValue();
  return taken;
}

void addBiasAfterRounding(const OpCall& call, const TakenBias& taken, at::ScalarType type) {
  const at::Tensor rounded = call.result(0).toTensor();
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rounded.dim()), 1);
  shape[static_cast<std::size_t>(taken.channelDim)] = taken.bias.numel();
  call.result(0) = rounded.to(at::kFloat).add_(widen(taken.bias).view(shape)).to(type);
}

}  // namespace

namespace {

double scalarOf(const c10::IValue& value) { return value.toScalar().toDouble(); }

// addbmm(self, b1, b2, beta, alpha): result = beta self + alpha b1[0] b2[0], then each further product is added, rounded each time.
at::Tensor sumBatches(const OpCall& call, at::ScalarType type) {
  const at::Tensor b1 = widen(call.argument(1).toTensor()), b2 = widen(call.argument(2).toTensor());
  const double alpha = scalarOf(call.argument(4));
  double beta = scalarOf(call.argument(3));
  at::Tensor result = widen(call.argument(0).toTensor());
  if (b1.size(0) == 0) return roundedTo(result * beta, type);
  for (std::int64_t i = 0; i < b1.size(0); ++i, beta = 1) result = widen(roundedTo(at::addmm(result, b1[i], b2[i], beta, alpha), type));
  return roundedTo(result, type);
}

// addr(self, v1, v2, beta, alpha) = beta self + alpha v1 v2, every operation rounded.
at::Tensor outerProduct(const OpCall& call, at::ScalarType type) {
  const auto round = [&](const at::Tensor& t) { return widen(roundedTo(t, type)); };
  const double beta = inTensorsDtype(scalarOf(call.argument(3)), type, false), alpha = inTensorsDtype(scalarOf(call.argument(4)), type, false);
  const at::Tensor left = round(widen(call.argument(1).toTensor()) * alpha);
  const at::Tensor product = round(left.unsqueeze(1) * widen(call.argument(2).toTensor()));
  if (beta == 0) return roundedTo(product, type);
  return roundedTo(round(widen(call.argument(0).toTensor()) * beta) + product, type);
}

// Ops that round in between; out= and in-place forms are left to the plain way.
bool emulateSpecially(const OpCall& call, const OutputRule& rule, at::ScalarType type) {
  const bool writes = std::any_of(call.op.schema().arguments().begin(), call.op.schema().arguments().end(),
                                  [](const c10::Argument& a) { return a.alias_info() && a.alias_info()->isWrite(); });
  if (rule.special == OutputRule::Special::none || writes || !isLow(type)) return false;
  at::Tensor result = rule.special == OutputRule::Special::batchSum ? sumBatches(call, type) : outerProduct(call, type);
  torch::jit::drop(*call.stack, call.argumentCount());
  torch::jit::push(*call.stack, std::move(result));
  return true;
}

}  // namespace

void emulate(const OpCall& call, const OutputRule& rule, const OnHost& onHost, bool splitSums) {
  const OwnCalls own;
  const at::ScalarType type = resultDtype(call, rule);
  if (emulateSpecially(call, rule, type) || (splitSums && isLow(type) && emulateSplit(call, type))) return;
  const TakenBias taken = rule.convolution ? takeBias(call) : TakenBias{};
  const std::vector<Written> written = widenArguments(call, rule, type, onHost);
  std::vector<at::Tensor> widenedWritten;
  for (const Written& w : written) widenedWritten.push_back(call.argument(w.argument).toTensor());
  call.op.callBoxed(call.stack);
  for (std::size_t w = 0; w < written.size(); ++w) written[w].original.copy_(widenedWritten[w]);
  roundResults(call, rule, type, written, widenedWritten);
  if (taken.bias.defined()) addBiasAfterRounding(call, taken, type);
}

}  // namespace ulpscope::engine
