#include "core/base/axis_text.h"

#include <cmath>

namespace ulpscope::base {
namespace {

std::string raised(long exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : kDigits[c - '0'];
  return text;
}

}  // namespace

std::string decadeText(double value) { return (value < 0 ? "−10" : "10") + raised(std::lround(std::log10(std::fabs(value)))); }

std::string powerOfTwoText(long exponent) { return "2" + raised(exponent); }

}  // namespace ulpscope::base
