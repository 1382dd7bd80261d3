#include "core/engine/executors.h"
#include "core/engine/values.h"

#include <ATen/native/TypeProperties.h>

#include <algorithm>

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

// A 0-dim float32 tensor on the device is cast to the common dtype before the kernel reads it; a Python scalar is not.
at::Tensor zeroDimAsOnDevice(const at::Tensor& t, at::ScalarType common, const OnHost& onHost) {
  const bool applies = isLow(common) && t.defined() && t.dim() == 0 && t.is_floating_point() &&
                       !t.unsafeGetTensorImpl()->is_wrapped_number() && !onHost(t);
  return applies ? t.to(common) : t;
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
    if (rule.roundScalars && value.isDouble() && isLow(common))
      value = at::scalar_tensor(value.toDouble(), at::kDouble).to(common).item<double>();
    value = mapTensors(value, [&](const at::Tensor& t) {
      return widen(rule.kind == OutputRule::Kind::promote && !writes ? zeroDimAsOnDevice(t, common, onHost) : t);
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

void emulate(const OpCall& call, const OutputRule& rule, const OnHost& onHost) {
  const OwnCalls own;
  const at::ScalarType type = resultDtype(call, rule);
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
