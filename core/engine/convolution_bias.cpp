#include "core/engine/emulated_ops.h"

#include <algorithm>

namespace ulpscope::engine {
namespace {

// A forward convolution as Convolution.cpp sees it: a batch, and 1-D with a height of 1.
struct Geometry {
  std::int64_t batch, channels, height, width, filterHeight, filterWidth, groups;
  std::int64_t strideHeight, strideWidth;
  std::size_t spatialDims;
  bool dilated, channelsLast;
};

std::vector<std::int64_t> intsOf(const OpCall& call, const char* name, std::size_t count) {
  const auto index = call.op.schema().argumentIndexWithName(name);
  std::vector<std::int64_t> values;
  if (index && call.argument(static_cast<std::size_t>(*index)).isIntList()) values = call.argument(static_cast<std::size_t>(*index)).toIntVector();
  if (values.size() == 1) values.assign(count, values.front());
  return values.size() == count ? values : std::vector<std::int64_t>(count, 1);
}

bool isChannelsLast(const at::Tensor& t) {
  const auto format = t.suggest_memory_format();
  return format == at::MemoryFormat::ChannelsLast || format == at::MemoryFormat::ChannelsLast3d;
}

Geometry geometryOf(const OpCall& call, std::int64_t groups) {
  const at::Tensor input = call.argument(0).toTensor(), weight = call.argument(1).toTensor();
  const std::size_t spatial = static_cast<std::size_t>(weight.dim()) - 2;
  const bool batched = input.dim() == weight.dim();
  const auto stride = intsOf(call, "stride", spatial), dilation = intsOf(call, "dilation", spatial);
  const bool flat = spatial == 1;
  return {batched ? input.size(0) : 1,
          input.size(batched ? 1 : 0),
          flat ? 1 : input.size(-2),
          input.size(-1),
          flat ? 1 : weight.size(-2),
          weight.size(-1),
          groups,
          flat ? 1 : stride[spatial - 2],
          stride[spatial - 1],
          spatial,
          std::any_of(dilation.begin(), dilation.end(), [](std::int64_t d) { return d != 1; }),
          (batched && isChannelsLast(input)) || isChannelsLast(weight)};
}

// Also a channel multiplier counts (is_depthwise of Convolution.cpp).
bool isDepthwise(const Geometry& g, const at::Tensor& weight) { return g.groups > 1 && g.groups == g.channels && weight.size(0) % g.groups == 0; }

// use_cudnn_depthwise and check_cudnn_depthwise_workload_with_filter of Convolution.cpp (PyTorch 1.13 to 2.9, cuDNN from 8.2 on): which
// depthwise convolutions cuDNN takes.
bool takenByCudnn(const Geometry& g, at::ScalarType type) {
  if (g.channelsLast) return true;
  if (type != at::kHalf || g.spatialDims > 2 || g.dilated || g.channels < 32) return false;
  if (g.height == 1 && g.strideWidth == 1) return true;
  if (g.strideHeight != g.strideWidth && g.height != 1) return false;
  const std::int64_t filter = g.filterWidth;
  if (g.filterHeight != filter || (filter != 1 && filter != 3 && filter != 5) || g.width < 7) return false;
  if (g.strideWidth == 1) return true;
  if (g.strideWidth != 2) return false;
  if (g.batch == 1) return filter != 1 || g.width <= 28;
  if (filter == 1) return g.batch <= 16 && g.channels >= 128 && g.width <= 7;
  return g.channels >= 512 || (g.channels >= 256 && g.width >= 28);
}

bool isTransposed(const OpCall& call) {
  const auto transposed = call.op.schema().argumentIndexWithName("transposed");
  return call.name().find("transpose") != std::string::npos || (transposed && call.argument(static_cast<std::size_t>(*transposed)).toBool());
}

}  // namespace

TakenBias takeBias(const OpCall& call, at::ScalarType type) {
  const auto& schema = call.op.schema();
  const auto bias = schema.argumentIndexWithName("bias");
  const auto groups = schema.argumentIndexWithName("groups");
  if (!bias || call.name() == "aten::conv_tbc") return {};
  c10::IValue& value = call.argument(static_cast<std::size_t>(*bias));
  if (!value.isTensor() || !value.toTensor().defined()) return {};
  const at::Tensor input = call.argument(0).toTensor();
  const at::Tensor weight = call.argument(1).toTensor();
  const Geometry geometry = geometryOf(call, groups ? call.argument(static_cast<std::size_t>(*groups)).toInt() : 1);
  if (!isTransposed(call) && isDepthwise(geometry, weight) && !takenByCudnn(geometry, type)) return {};
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

}  // namespace ulpscope::engine
