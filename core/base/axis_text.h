// Numbers as they stand beside axes; number_text.h for all others.
#pragma once

#include <string>

namespace ulpscope::base {

std::string decadeText(double value);          // a power of ten: 1e-3 -> "10⁻³"
std::string powerOfTwoText(long exponent);     // "2⁻¹⁴"

}  // namespace ulpscope::base
