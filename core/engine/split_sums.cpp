// Matrix products as cuBLAS may split them: https://docs.nvidia.com/cuda/cublas, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, and
// allow_fp16_reduced_precision_reduction in PyTorch's notes on numerical accuracy.
#include "core/engine/executors.h"
#include "core/engine/values.h"

#include <algorithm>

namespace ulpscope::engine {
namespace {

constexpr std::int64_t kProductsInAPart = 256, kMaxParts = 16;

at::Tensor rounded(const at::Tensor& t, at::ScalarType type) { return t.to(type).to(at::kFloat); }

// a: [..., M, K], b: [..., K, N], values of the low dtype. Float32, on the low dtype's grid. Undefined: too short to be split.
at::Tensor splitProduct(const at::Tensor& a, const at::Tensor& b, at::ScalarType type) {
  const std::int64_t length = a.size(-1), parts = std::min(kMaxParts, length / kProductsInAPart);
  if (parts < 2) return {};
  const at::Tensor left = a.to(at::kFloat), right = b.to(at::kFloat);
  at::Tensor sum;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t from = i * length / parts, count = (i + 1) * length / parts - from;
    const at::Tensor part = rounded(at::matmul(left.narrow(-1, from, count), right.narrow(-2, from, count)), type);
    sum = sum.defined() ? rounded(sum + part, type) : part;
  }
  return sum;
}

at::Tensor tensorAt(const OpCall& call, std::size_t i) { return call.argument(i).toTensor(); }

// beta self + alpha product, rounded once more; beta and alpha are arguments 3 and 4.
at::Tensor withAddend(const OpCall& call, at::ScalarType type) {
  const at::Tensor product = splitProduct(tensorAt(call, 1), tensorAt(call, 2), type);
  if (!product.defined()) return {};
  const double beta = call.argument(3).toScalar().toDouble(), alpha = call.argument(4).toScalar().toDouble();
  return beta == 0 ? product * alpha : tensorAt(call, 0).to(at::kFloat) * beta + product * alpha;
}

at::Tensor splitLinear(const OpCall& call, at::ScalarType type) {
  const at::Tensor product = splitProduct(tensorAt(call, 0), tensorAt(call, 1).t(), type);
  const bool biased = product.defined() && call.argument(2).isTensor() && tensorAt(call, 2).defined();
  return biased ? product + tensorAt(call, 2).to(at::kFloat) : product;
}

}  // namespace

bool emulateSplit(const OpCall& call, at::ScalarType type) {
  if (!call.overload().empty()) return false;  // out=
  const std::string& name = call.name();
  at::Tensor result;
  if (name == "aten::mm" || name == "aten::bmm")
    result = splitProduct(tensorAt(call, 0), tensorAt(call, 1), type);
  else if (name == "aten::addmm" || name == "aten::baddbmm")
    result = withAddend(call, type);
  else if (name == "aten::linear")
    result = splitLinear(call, type);
  if (!result.defined()) return false;
  torch::jit::drop(*call.stack, call.argumentCount());
  torch::jit::push(*call.stack, result.to(type));
  return true;
}

}  // namespace ulpscope::engine
