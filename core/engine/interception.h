// Every ATen call of a thread passes through one function before autograd; LibTorch's own interpreter does the running.
#pragma once

#include "core/engine/libtorch_compat.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace ulpscope::engine {

// One call as the dispatcher hands it over: arguments lie on the stack, results must lie there afterwards.
struct OpCall {
  const c10::OperatorHandle& op;
  c10::DispatchKeySet keys;
  torch::jit::Stack* stack;

  std::size_t argumentCount() const { return op.schema().arguments().size(); }
  std::size_t firstArgument() const { return stack->size() - argumentCount(); }  // before the op ran
  c10::IValue& argument(std::size_t i) const { return (*stack)[firstArgument() + i]; }
  std::size_t resultCount() const { return op.schema().returns().size(); }
  c10::IValue& result(std::size_t i) const { return (*stack)[stack->size() - resultCount() + i]; }  // after it ran
  const std::string& name() const { return op.schema().name(); }
  const std::string& overload() const { return op.schema().overload_name(); }

  // Runs the next kernel; ops called inside come through the hook again.
  void redispatch() const { op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, compat::kHookKey), stack); }
};

class OpHook {
 public:
  virtual ~OpHook() = default;
  virtual void call(const OpCall& call) = 0;
  // A fused op that runs as the ops it consists of, each of which is a call (fused_layers.h).
  virtual void opens(const std::string& op) { static_cast<void>(op); }
};

// While it lives, ATen calls of this thread go to `hook`. Not to be nested.
class InterceptionGuard {
 public:
  explicit InterceptionGuard(OpHook& hook);
  ~InterceptionGuard();
  InterceptionGuard(const InterceptionGuard&) = delete;
  InterceptionGuard& operator=(const InterceptionGuard&) = delete;

 private:
  c10::impl::IncludeDispatchKeyGuard m_include;
  bool m_wasExcluded;
};

// Inside a hook: calls of this thread go to another hook for a while (an op is run again by itself).
class HookSwap {
 public:
  explicit HookSwap(OpHook& hook);
  ~HookSwap();
  HookSwap(const HookSwap&) = delete;
  HookSwap& operator=(const HookSwap&) = delete;

 private:
  OpHook* m_outer;
};

// Our own ATen calls inside a hook: the hook does not see them.
class OwnCalls {
 public:
  OwnCalls() : m_exclude(compat::kHookKey) {}

 private:
  c10::impl::ExcludeDispatchKeyGuard m_exclude;
};

// Undoes OwnCalls for a while: an op that is run again must come through the hook.
class SeenByHook {
 public:
  SeenByHook() : m_was(c10::impl::tls_is_dispatch_key_excluded(compat::kHookKey)) { c10::impl::tls_set_dispatch_key_excluded(compat::kHookKey, false); }
  ~SeenByHook() { c10::impl::tls_set_dispatch_key_excluded(compat::kHookKey, m_was); }
  SeenByHook(const SeenByHook&) = delete;
  SeenByHook& operator=(const SeenByHook&) = delete;

 private:
  bool m_was;
};

enum class Gradients { off, on };

// What a thread that runs a model needs: no gradients (training: gradients), the plain interpreter (no optimisation, profiling or JIT
// autocast pass, all of which would rewrite the ops), one intra-op thread, autocast flagged on. Restores on destruction.
class ModelThreadGuard {
 public:
  explicit ModelThreadGuard(int threads, Gradients gradients = Gradients::off);
  ~ModelThreadGuard();
  ModelThreadGuard(const ModelThreadGuard&) = delete;
  ModelThreadGuard& operator=(const ModelThreadGuard&) = delete;

 private:
  bool m_gradWasEnabled;
  bool m_autocastWas;
};

}  // namespace ulpscope::engine
