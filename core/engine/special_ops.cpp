#include "core/engine/emulated_ops.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::engine {
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
  const double beta = roundedScalar(scalarOf(call.argument(3)), type), alpha = roundedScalar(scalarOf(call.argument(4)), type);
  const at::Tensor left = round(widen(call.argument(1).toTensor()) * alpha);
  const at::Tensor product = round(left.unsqueeze(1) * widen(call.argument(2).toTensor()));
  if (beta == 0) return roundedTo(product, type);
  return roundedTo(round(widen(call.argument(0).toTensor()) * beta) + product, type);
}

// The points of linspace in float32, every operation rounded: RangeFactories.cu computes in scalar_t, the first half from the start, the rest
// from the end.
at::Tensor evenSteps(double first, double last, std::int64_t steps, at::ScalarType type) {
  const auto round = [&](double x) { return roundedScalar(static_cast<float>(x), type); };
  const double start = roundedScalar(first, type), end = roundedScalar(last, type);
  const double step = round(round(end - start) / round(static_cast<double>(steps - 1)));
  std::vector<float> points;
  for (std::int64_t i = 0; i < steps; ++i) {
    const bool up = i < steps / 2;
    const double offset = round(step * round(static_cast<double>(up ? i : steps - 1 - i)));
    points.push_back(static_cast<float>(round(up ? start + offset : end - offset)));
  }
  return at::tensor(points, at::kFloat);
}

// linspace(start, end, steps), logspace(start, end, steps, base)
at::Tensor spaced(const OpCall& call, at::ScalarType type) {
  const double first = scalarOf(call.argument(0)), last = scalarOf(call.argument(1));
  const std::int64_t steps = call.argument(2).toInt();
  const bool logarithmic = call.name() == "aten::logspace";
  const double base = logarithmic ? call.argument(3).toDouble() : 0;
  if (steps == 1) return at::full({1}, logarithmic ? std::pow(base, first) : first, at::kDouble).to(type);
  const at::Tensor points = evenSteps(first, last, steps, type);
  return roundedTo(logarithmic ? at::pow(roundedScalar(base, type), points) : points, type);
}

// rrelu_with_noise(self, noise, lower, upper, training) in training: the slope and the product are rounded each (RreluWithNoise.cu). The CPU's
// kernel draws the slopes, so that both runs have the same.
at::Tensor randomSlopes(const OpCall& call, at::ScalarType type) {
  const at::Tensor self = widen(call.argument(0).toTensor());
  at::Tensor slopes = at::empty_like(self);
  torch::jit::Stack stack{self.detach(), slopes};
  for (std::size_t i = 2; i < call.argumentCount(); ++i) stack.push_back(call.argument(i));
  const auto plain = c10::Dispatcher::singleton().findSchemaOrThrow("aten::rrelu_with_noise", "");
  plain.callBoxed(&stack);
  slopes = roundedTo(slopes, type);
  call.argument(1).toTensor().copy_(slopes);
  return roundedTo(at::where(self <= 0, self * widen(slopes), self), type);
}

}  // namespace

double roundedScalar(double scalar, at::ScalarType type) { return at::scalar_tensor(scalar, at::kDouble).to(type).item<double>(); }

namespace {

bool writesAnArgument(const OpCall& call) {
  const auto& arguments = call.op.schema().arguments();
  return std::any_of(arguments.begin(), arguments.end(), [](const c10::Argument& a) { return a.alias_info() && a.alias_info()->isWrite(); });
}

bool applies(const OpCall& call, OutputRule::Special special) {
  switch (special) {
    case OutputRule::Special::none: return false;
    case OutputRule::Special::randomSlopes: return call.argument(4).toBool();
    case OutputRule::Special::spaced: return !writesAnArgument(call) && call.argument(0).isScalar() && call.argument(1).isScalar() && call.argument(2).isInt() && call.argument(2).toInt() > 0;
    case OutputRule::Special::batchSum:
    case OutputRule::Special::outerProduct: return !writesAnArgument(call);  // out= and in-place forms are left to the plain way
  }
  return false;
}

at::Tensor resultOf(const OpCall& call, OutputRule::Special special, at::ScalarType type) {
  switch (special) {
    case OutputRule::Special::batchSum: return sumBatches(call, type);
    case OutputRule::Special::spaced: return spaced(call, type);
    case OutputRule::Special::randomSlopes: return randomSlopes(call, type);
    case OutputRule::Special::outerProduct:
    case OutputRule::Special::none: break;
  }
  return outerProduct(call, type);
}

}  // namespace

bool emulateSpecially(const OpCall& call, const OutputRule& rule, at::ScalarType type) {
  if (!isLow(type) || !applies(call, rule.special)) return false;
  at::Tensor result = resultOf(call, rule.special, type);
  const bool inPlace = call.name().back() == '_';
  if (inPlace) result = call.argument(0).toTensor().copy_(result);
  torch::jit::drop(*call.stack, call.argumentCount());
  torch::jit::push(*call.stack, std::move(result));
  return true;
}

}  // namespace ulpscope::engine
