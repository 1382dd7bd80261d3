// Time stamps and unique names.
#pragma once

#include <string>

namespace ulpscope::base {

std::string utcNow();    // "2026-01-31T14:02:07Z" (ISO 8601)
std::string randomId();  // 32 hex digits from the system's generator

}  // namespace ulpscope::base
