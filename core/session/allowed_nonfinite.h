// Rules that call non-finite values of the FP32 reference intended.
#pragma once

#include "core/session/run_record.h"

#include <string>

namespace ulpscope::session {

// A rule names where they arise: "input:NAME", "parameter:NAME", a module path ("." the root) and all below it, or an op site as FP32
// regions name it, "MODULE:aten::op[.overload][@line][#n]". Globs in names and paths.
bool explains(const std::string& rule, const NonfiniteFinding& finding);

// An op site as rules can name it.
struct NamedSite {
  std::string modulePath, op, overload, source;
  int occurrence = 1;
};
// Whether the module path or op site pattern covers it.
bool coversSite(const std::string& pattern, const NamedSite& site);

}  // namespace ulpscope::session
