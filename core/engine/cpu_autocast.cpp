#include "core/engine/cpu_autocast.h"

namespace ulpscope::engine {

CpuAutocast::CpuAutocast(bool castCache) : m_wasEnabled(compat::cpuAutocastEnabled()), m_hadCache(at::autocast::is_autocast_cache_enabled()), m_dtypeBefore(compat::cpuAutocastDtype()) {
  compat::setCpuAutocastDtype(at::kBFloat16);
  at::autocast::set_autocast_cache_enabled(castCache);
  compat::setCpuAutocastEnabled(true);
  at::autocast::increment_nesting();
}

CpuAutocast::~CpuAutocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  compat::setCpuAutocastEnabled(m_wasEnabled);
  at::autocast::set_autocast_cache_enabled(m_hadCache);
  compat::setCpuAutocastDtype(m_dtypeBefore);
}

}  // namespace ulpscope::engine
