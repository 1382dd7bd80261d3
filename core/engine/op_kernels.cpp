#include "core/engine/op_kernels.h"

#include "core/engine/engine.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace ulpscope::engine {
namespace {

using c10::DispatchKey;

struct Keys {
  DispatchKey backend, autocast;
};
Keys keysOf(const std::string& device) {
  return device == "cpu" ? Keys{DispatchKey::CPU, DispatchKey::AutocastCPU} : Keys{DispatchKey::CUDA, DispatchKey::AutocastCUDA};
}

std::string kernelName(const c10::OperatorHandle& op, DispatchKey backend) {
  if (op.hasKernelForDispatchKey(backend)) return "own";
  if (op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) || op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional)) return "generic";
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) ? "composite" : "none";
}

}  // namespace

model::OpKernel kernelOf(const model::StaticOp& op, const std::string& device) {
  const auto handle = c10::Dispatcher::singleton().findSchema({op.op, op.overload});
  if (!handle) return {"interpreter", false};
  const Keys keys = keysOf(device);
  return {kernelName(*handle, keys.backend), handle->hasKernelForDispatchKey(keys.autocast)};
}

protocol::TargetDevice targetDevice(const std::string& device) {
  // Every backend has this one: tensors could not be made otherwise.
  const auto empty = c10::Dispatcher::singleton().findSchema({"aten::empty", "memory_format"});
  const bool hasKernels = empty && empty->hasKernelForDispatchKey(keysOf(device).backend);
  return {device, Engine::facts().libtorchVersion, hasKernels, device == "cpu" || at::globalContext().hasCUDA()};
}

}  // namespace ulpscope::engine
