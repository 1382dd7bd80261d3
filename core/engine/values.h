// Tensors inside IValues. Private to core/engine.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/base/dtype.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ulpscope::engine {

inline bool isLow(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

// Floating, but not double: what autocast may cast.
inline bool isEligible(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() && tensor.scalar_type() != at::kDouble;
}

// Precondition: one of the twelve dtypes of base::DType; otherwise float64 is answered and `known` is false.
base::DType dtypeOf(at::ScalarType type);
bool isKnown(at::ScalarType type);
at::ScalarType scalarTypeOf(base::DType dtype);

// Floating or complex.
inline bool isInexact(const at::Tensor& t) { return t.is_floating_point() || t.is_complex(); }

// Elements that can be looked at: strided, with storage, of a known dtype, not quantised.
inline bool isReadable(const at::Tensor& t) {
  return t.defined() && t.layout() == at::kStrided && t.has_storage() && !t.is_quantized() && isKnown(t.scalar_type());
}

using TensorMap = std::function<at::Tensor(const at::Tensor&)>;

// The value with every tensor in it mapped, nested lists, tuples, dicts and optionals included. A value without tensors, or
// whose tensors the map leaves as they are, comes back itself (aliasing of containers is kept).
c10::IValue mapTensors(c10::IValue value, const TensorMap& map);

// Every defined tensor in the value, depth first.
void forEachTensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit);

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};
// "output" for a tensor, "output.0" in tuples and lists, "output.key" in dicts, nested names joined by dots.
std::vector<NamedTensor> flattenOutputs(const c10::IValue& value, const std::string& name = "output");

// The same names' number, dtypes, shapes and bits, element by element.
bool bitIdentical(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b);

std::string shapeText(at::IntArrayRef sizes);  // "[4, 16, 64]"

// Borrowed view; keeps the contiguous tensor alive.
struct HeldView {
  at::Tensor tensor;
  analysis::TensorView view;
};
// Precondition of both: defined, strided, dtype known. viewOf copies when the tensor is not contiguous; stridedViewOf never does.
HeldView viewOf(const at::Tensor& tensor);
HeldView stridedViewOf(const at::Tensor& tensor);

}  // namespace ulpscope::engine
