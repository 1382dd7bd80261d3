// LibTorch's own CPU autocast of the running thread. Private to core/engine.
#pragma once

#include "core/engine/libtorch_compat.h"

namespace ulpscope::engine {

// `with torch.autocast("cpu", dtype=torch.bfloat16)` while it lives; the cast weights go with it, as in __exit__.
class CpuAutocast {
 public:
  explicit CpuAutocast(bool castCache);
  ~CpuAutocast();
  CpuAutocast(const CpuAutocast&) = delete;
  CpuAutocast& operator=(const CpuAutocast&) = delete;

 private:
  // What the thread had before.
  bool m_wasEnabled, m_hadCache;
  at::ScalarType m_dtypeBefore;
};

}  // namespace ulpscope::engine
