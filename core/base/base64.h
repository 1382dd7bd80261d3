// RFC 4648 base64, with padding, without line breaks (OpenSSL).
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope::base {

std::string toBase64(const void* data, std::size_t sizeBytes);
// Error kind input for anything but whole groups of the alphabet with padding at the end.
Result<std::vector<std::byte>> fromBase64(std::string_view text);

}  // namespace ulpscope::base
