// The highest resident memory of this process over a while. No Torch.
#pragma once

#include "core/session/benchmark.h"

namespace ulpscope::engine {

// Linux's own high-water mark (VmHWM of /proc/self/status), set back at the start by /proc/self/clear_refs (proc(5)); nothing is sampled, so no
// peak is missed. Freed memory is given back first.
class PeakMeter {
 public:
  PeakMeter();
  // From the meter's making until now; forwards is not filled.
  session::PeakMemory read() const;

 private:
  session::PeakMemory m_start;
};

}  // namespace ulpscope::engine
