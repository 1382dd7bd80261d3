// A file that is no session's: there whole or not at all.
#pragma once

#include "core/base/error.h"

#include <string>
#include <string_view>

namespace ulpscope::storage {

// Writes path + ".part", syncs it, renames it to `path` and replaces what stood there. Errors say what the system said; a full disk is of kind run,
// a folder that cannot be written to of kind input. Nothing is left behind by one.
base::Status writeWholeFile(const std::string& path, std::string_view bytes);

}  // namespace ulpscope::storage
