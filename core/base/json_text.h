// JSON that others wrote: refused in one sentence of ours, and before anything that recurses meets its depth.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace ulpscope::base {

// Levels of brackets. dump(), == and copies recurse, so that a few hundred thousand would end the program.
constexpr std::size_t kDeepestJson = 100;
bool isTooDeep(std::string_view json);

struct JsonPlace {
  std::string which;          // the file or part of one; empty: its line alone is named
  std::string remedy;         // where it is no JSON at all
  std::size_t firstLine = 1;  // of the text in its file; lines and columns count from 1, a column is a character
};

// Error kind input, naming which, line and column: no JSON, nothing at all, levels beyond kDeepestJson, a number beyond double precision; and a
// key that stands twice in one object, whose second value would quietly win.
Result<nlohmann::json> readJson(const std::string& text, const JsonPlace& place);

}  // namespace ulpscope::base
