// Every difference between the LibTorch versions that Ulpscope builds against (1.13, 2.x). Private to core/engine.
#pragma once

#include <ATen/autocast_mode.h>
#include <c10/core/DispatchKey.h>
#include <torch/version.h>

#if TORCH_VERSION_MAJOR >= 2
#include <optional>
#endif

namespace ulpscope::engine::compat {

// An autocast key that no backend of this build uses. 2.x registers a fallback for XPU itself, so there the key of
// out-of-tree backends is the free one.
#if TORCH_VERSION_MAJOR >= 2
inline constexpr c10::DispatchKey kHookKey = c10::DispatchKey::AutocastPrivateUse1;
template <typename T>
using Optional = std::optional<T>;
#else
inline constexpr c10::DispatchKey kHookKey = c10::DispatchKey::AutocastXPU;
template <typename T>
using Optional = c10::optional<T>;
#endif

// What `torch.is_autocast_enabled()` answers inside a model. It must say yes, in both runs: under autocast PyTorch's modules
// leave their fused fast paths, which would hide their ops.
inline void setAutocastFlag(bool enabled) {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
  at::autocast::set_autocast_enabled(at::kCUDA, enabled);
#else
  at::autocast::set_enabled(enabled);
#endif
}

inline bool autocastFlag() {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
  return at::autocast::is_autocast_enabled(at::kCUDA);
#else
  return at::autocast::is_enabled();
#endif
}

// CPU autocast of the running thread: LibTorch's own.
inline bool cpuAutocastEnabled() {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
  return at::autocast::is_autocast_enabled(at::kCPU);
#else
  return at::autocast::is_cpu_enabled();
#endif
}

inline void setCpuAutocastEnabled(bool enabled) {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
  at::autocast::set_autocast_enabled(at::kCPU, enabled);
#else
  at::autocast::set_cpu_enabled(enabled);
#endif
}

inline at::ScalarType cpuAutocastDtype() {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
  return at::autocast::get_autocast_dtype(at::kCPU);
#else
  return at::autocast::get_autocast_cpu_dtype();
#endif
}

inline void setCpuAutocastDtype(at::ScalarType dtype) {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
  at::autocast::set_autocast_dtype(at::kCPU, dtype);
#else
  at::autocast::set_autocast_cpu_dtype(dtype);
#endif
}

}  // namespace ulpscope::engine::compat
