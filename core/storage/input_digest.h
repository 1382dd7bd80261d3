// The fingerprint of a reference set.
#pragma once

#include "core/base/error.h"

#include <stop_token>
#include <string>

namespace ulpscope::storage {

// SHA-256 of the file. Of a folder of images: of the lines "SHA-256  ./RELATIVE/PATH\n" of its files, hidden ones aside, in byte order of the paths:
//   find . -type f -not -path '*/.*' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum
// Errors as base::sha256OfFile's, and for a folder without preprocessing.json.
base::Result<std::string> inputsDigest(const std::string& path, std::stop_token stop = {});

}  // namespace ulpscope::storage
