// Every defined tensor of a value, without a copy of the containers. Private to core/engine.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

namespace ulpscope::engine {

// visit(const at::Tensor&), depth first: the order of forEachTensor.
template <typename F>
void visitTensors(const c10::IValue& value, F&& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) visitTensors(element, visit);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) visitTensors(element, visit);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) visitTensors(entry.value(), visit);
  }
}

}  // namespace ulpscope::engine
