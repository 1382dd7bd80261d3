// Whether a run, or a training, may be timed at all: a number of speed says something only where the numbers it was bought with have passed.
#pragma once

#include "core/base/error.h"
#include "core/session/run_record.h"
#include "core/session/training.h"
#include "core/session/verdict.h"

#include <optional>
#include <string>

namespace ulpscope::analysis {

struct BenchmarkRefusal {
  base::Error error;
  int exitCode = 0;
  bool criteriaFailed = false;  // a verdict of fail, which is no error of anybody's
};

// What stands in the way whatever the verdict is, in the order in which it is told: recorded, emulated (no claim about speed can be made of either),
// a loss that is a script (the session does not hold it), an FP32 region that names an op (only interception can obey it): 3. `which`: the session
// and run, for the message.
std::optional<BenchmarkRefusal> cannotBeTimed(const session::RunSettings& settings, const std::string& which);
std::optional<BenchmarkRefusal> cannotBeTimed(const session::Training& training, const std::string& which);
// The verdict that a benchmark must stand on. Empty: no criteria are locked, 5. Not evaluated: 5. Fail, naming each criterion that failed with
// what was measured and its limit: 1. Pass: no refusal.
std::optional<BenchmarkRefusal> notPassed(const std::optional<session::Verdict>& verdict, const std::string& which);

}  // namespace ulpscope::analysis
