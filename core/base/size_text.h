// Sizes in bytes for people; number_text.h for all other numbers.
#pragma once

#include <cstdint>
#include <string>

namespace ulpscope::base {

// In the binary units that options take: "999 bytes", "1.5 KiB", "64 MiB", "1 GiB". One decimal, none where it is whole.
std::string sizeText(std::uint64_t bytes);

}  // namespace ulpscope::base
