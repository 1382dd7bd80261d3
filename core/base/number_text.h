// The one place that turns numbers into text, for window, command line and reports. Independent of the locale.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace ulpscope::base {

// Short form for tables and badges: 3 significant digits, "0", "NaN", "+inf", "-inf" ("1.32e-02", "81900", "0.671").
std::string shortNumber(double value);
// Round-trip form of a float32 value: 9 significant digits.
std::string exactNumber(double value);
// Round-trip form of a float64 value: the shortest that reads back as it.
std::string roundTripNumber(double value);
// With a thousands separator: 65504 -> "65,504"; keeps up to one decimal below a million: 81920.5 -> "81,920.5".
std::string groupedNumber(double value);
std::string groupedInteger(std::int64_t value);
// "1 sample", "2 samples".
std::string counted(std::int64_t count, const std::string& noun);

// JSON has no NaN or infinity, and null would erase the finding: they are the strings "NaN", "+inf", "-inf".
nlohmann::json jsonNumber(double value);
// The reverse; anything else than a number or those strings gives NaN.
double numberFromJson(const nlohmann::json& json);

}  // namespace ulpscope::base
