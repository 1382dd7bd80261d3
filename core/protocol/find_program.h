// The other programs of ours, beside the running one.
#pragma once

#include "core/base/error.h"

#include <string>

namespace ulpscope::protocol {

// $ULPSCOPE_WINDOW, then `ulpscope-gui` in the program's own folder. Error kind input: it is not installed or not built.
base::Result<std::string> findWindow();

}  // namespace ulpscope::protocol
