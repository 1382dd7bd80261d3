// An inputs file of our own: what readInputFile (input_file.h) reads.
#pragma once

#include "core/base/error.h"
#include "core/storage/input_file.h"

#include <string>

namespace ulpscope::storage {

// `expected` is not written. Whole or not at all; what stands at `path` is replaced. Error kind run where it cannot be.
base::Status writeInputFile(const std::string& path, const InputFile& input);

}  // namespace ulpscope::storage
