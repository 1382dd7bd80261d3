// Time stamps, durations, unique names.
#pragma once

#include <string>

namespace ulpscope::base {

std::string utcNow();    // "2026-01-31T14:02:07Z" (ISO 8601)
std::string durationText(double seconds);  // "12 s", "3 min 05 s", "1 h 02 min"; rounded to whole seconds. Precondition: finite, not negative
std::string randomId();  // 32 hex digits from the system's generator

}  // namespace ulpscope::base
