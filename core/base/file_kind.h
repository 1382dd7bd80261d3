// What lies at a path, before anything is read of it.
#pragma once

#include "core/base/error.h"

#include <string>

namespace ulpscope::base {

// Error kind input for a folder and for what is no plain file (a pipe would be waited for). A symbolic link is what it leads to. Success too
// where nothing can be looked at: whoever opens it says why.
Status checkFileKind(const std::string& path);

}  // namespace ulpscope::base
