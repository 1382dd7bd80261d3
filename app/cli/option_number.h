// Whole numbers among the words of a command.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>

namespace ulpscope::cli {

struct NumberRange {
  std::uint64_t low, high;  // both belong to it
};

// `text` read as a decimal number, never wrapped or cut to what fits. which: what the user wrote, for the error (kind
// usage), which names the range.
base::Result<std::uint64_t> wholeNumber(const std::string& text, const std::string& which, NumberRange range);

// "64MiB", "2GB", "500k", "1073741824": decimal units by 1,000, binary ones by 1,024.
base::Result<std::int64_t> byteSize(const std::string& text, const std::string& which);

}  // namespace ulpscope::cli
