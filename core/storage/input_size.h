// Whether inputs can be held at all, before a value of them is read.
#pragma once

#include "core/base/error.h"

#include <string>

namespace ulpscope::storage {

// Error kind input: the inputs, as their file declares them, are larger than this machine's memory. Success too where the file cannot be
// understood: whoever reads it says why.
base::Status checkFitsMemory(const std::string& path);
// The same against a memory of that size.
base::Status checkFits(const std::string& path, double memoryBytes);

}  // namespace ulpscope::storage
