#include "core/engine/interception.h"

#include "core/engine/fused_layers.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/library.h>

#include <utility>

namespace ulpscope::engine {
namespace {

thread_local OpHook* currentHook = nullptr;

void fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const OpCall call{op, keys, stack};
  if (currentHook)
    currentHook->call(call);
  else
    call.redispatch();
}

// Instead of the fallback: the op itself is not seen, what it consists of is.
template <void (*open)(const OpCall&)>
void openFused(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (currentHook) currentHook->opens(op.schema().name());
  open(OpCall{op, keys, stack});
}

// A namespace-wide registration lives as long as the program.
const auto kRegistered = [] {
  static torch::Library library(torch::Library::IMPL, "_", compat::kHookKey, __FILE__, __LINE__);
  library.fallback(torch::CppFunction::makeFromBoxedFunction<fallback>());
  static torch::Library fused(torch::Library::IMPL, "aten", compat::kHookKey, __FILE__, __LINE__);
  fused.impl("_transformer_encoder_layer_fwd", torch::CppFunction::makeFromBoxedFunction<openFused<openEncoderLayer>>());
  fused.impl("_native_multi_head_attention", torch::CppFunction::makeFromBoxedFunction<openFused<openMultiheadAttention>>());
  return true;
}();

}  // namespace

InterceptionGuard::InterceptionGuard(OpHook& hook)
    : m_include(compat::kHookKey), m_wasExcluded(c10::impl::tls_is_dispatch_key_excluded(compat::kHookKey)) {
  TORCH_INTERNAL_ASSERT(kRegistered && !currentHook);
  c10::impl::tls_set_dispatch_key_excluded(compat::kHookKey, false);
  currentHook = &hook;
}

InterceptionGuard::~InterceptionGuard() {
  currentHook = nullptr;
  c10::impl::tls_set_dispatch_key_excluded(compat::kHookKey, m_wasExcluded);
}

HookSwap::HookSwap(OpHook& hook) : m_outer(std::exchange(currentHook, &hook)) {}
HookSwap::~HookSwap() { currentHook = m_outer; }

ModelThreadGuard::ModelThreadGuard(int threads, Gradients gradients) : m_gradWasEnabled(c10::GradMode::is_enabled()), m_autocastWas(compat::autocastFlag()) {
  at::set_num_threads(threads);
  torch::jit::setGraphExecutorOptimize(false);
  torch::jit::getProfilingMode() = false;
  torch::jit::getExecutorMode() = false;
  torch::jit::setAutocastMode(false);
  c10::GradMode::set_enabled(gradients == Gradients::on);
  compat::setAutocastFlag(true);
}

ModelThreadGuard::~ModelThreadGuard() {
  compat::setAutocastFlag(m_autocastWas);
  c10::GradMode::set_enabled(m_gradWasEnabled);
}

}  // namespace ulpscope::engine
