#include "option_number.h"

#include <fmt/format.h>

#include <charconv>

namespace ulpscope::cli {

using base::Error;
using base::ErrorKind;

base::Result<std::uint64_t> wholeNumber(const std::string& text, const std::string& which, NumberRange range) {
  const std::string digits = text.substr(text.rfind('-', 0) == 0 ? 1 : 0);
  const std::string remedy = fmt::format("use a whole number from {} to {}", range.low, range.high);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    return Error{ErrorKind::usage, "is no whole number", which, remedy};
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);  // refuses a minus sign
  if (read.ec != std::errc() || value < range.low || value > range.high) return Error{ErrorKind::usage, "is out of range", which, remedy};
  return value;
}

}  // namespace ulpscope::cli
