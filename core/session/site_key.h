// Which op site of one run is which of another, and names that tell the sites of a run apart.
#pragma once

#include "core/session/run_record.h"

#include <string>
#include <tuple>
#include <vector>

namespace ulpscope::session {

// Module, op, overload, source line, occurrence, output: together they stand once in a run.
using SiteKey = std::tuple<std::string, std::string, std::string, std::string, int, int>;
SiteKey siteKey(const SiteSummary& site);

// A name a site: siteLabel's, and where several share that, with what tells them apart: "(root): aten::relu@12#2", ", output 1". patternOfLabel
// makes a pattern of one without an output.
std::vector<std::string> siteNames(const RunRecord& run);

}  // namespace ulpscope::session
