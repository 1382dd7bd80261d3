#include "option_number.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <limits>
#include <map>

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

base::Result<std::int64_t> byteSize(const std::string& text, const std::string& which) {
  const Error wrong{ErrorKind::usage, "is no size", which, "use for instance 64MiB, 2GB or a number of bytes"};
  const std::size_t digits = text.find_first_not_of("0123456789");
  std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (!unit.empty() && unit.back() == 'b') unit.pop_back();
  static const std::map<std::string, std::int64_t> kUnits{{"", 1}, {"k", 1000}, {"m", 1000000}, {"g", 1000000000}, {"t", 1000000000000},
                                                          {"ki", 1LL << 10}, {"mi", 1LL << 20}, {"gi", 1LL << 30}, {"ti", 1LL << 40}};
  const auto factor = kUnits.find(unit);
  if (factor == kUnits.end() || digits == 0) return wrong;
  const auto count = wholeNumber(text.substr(0, digits), which, {0, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / factor->second)});
  if (!count) return wrong;
  return static_cast<std::int64_t>(count.value()) * factor->second;
}

}  // namespace ulpscope::cli
