// A report as PDF, which needs Qt: the window's program prints it in a process of its own, without a display.
#pragma once

#include "core/base/error.h"

#include <string>

namespace ulpscope::cli {

struct PrintOrder {
  std::string session, pdf, runId, language;
  bool isCovered = false;
};

// Errors: the window's program is not there (kind input), or what it says itself.
base::Status printReport(const PrintOrder& order);

}  // namespace ulpscope::cli
