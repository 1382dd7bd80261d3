#include "core/base/number_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace ulpscope::base {
namespace {

const char* nonFiniteText(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "+inf" : "-inf";
}

}  // namespace

std::string shortNumber(double value) {
  if (!std::isfinite(value)) return nonFiniteText(value);
  if (value == 0) return "0";
  const double magnitude = std::fabs(value);
  if (magnitude < 1e-3 || magnitude >= 1e6) return fmt::format("{:.2e}", value);
  return fmt::format("{:.3g}", value).find('e') == std::string::npos ? fmt::format("{:.3g}", value)
                                                                      : fmt::format("{:.0f}", value);
}

std::string exactNumber(double value) {
  if (!std::isfinite(value)) return nonFiniteText(value);
  return fmt::format("{:.9g}", value);
}

std::string roundTripNumber(double value) { return std::isfinite(value) ? fmt::format("{}", value) : nonFiniteText(value); }

std::string groupedInteger(std::int64_t value) {
  std::string text = std::to_string(value);
  const int firstDigit = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(text.size()) - 3; at > firstDigit; at -= 3) text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string groupedNumber(double value) {
  if (!std::isfinite(value)) return nonFiniteText(value);
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e15 || (magnitude < 100 && magnitude != std::floor(magnitude))) return shortNumber(value);
  const double tenths = std::round(magnitude * 10) / 10;
  std::string text = groupedInteger(static_cast<std::int64_t>(tenths));
  const int decimal = static_cast<int>(std::lround((tenths - std::floor(tenths)) * 10));
  if (decimal != 0 && magnitude < 1e6) text += "." + std::to_string(decimal);
  return value < 0 ? "-" + text : text;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return groupedInteger(count) + " " + noun + (count == 1 ? "" : "s");
}

nlohmann::json jsonNumber(double value) {
  if (std::isfinite(value)) return value;
  return nonFiniteText(value);
}

double numberFromJson(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "+inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ulpscope::base
