// "Did you mean": the names nearest to one that matches nothing.
#pragma once

#include <string>
#include <vector>

namespace ulpscope::base {

// Up to `count` of `names`, by edit distance (Levenshtein), names that contain `wanted` first.
std::vector<std::string> nearestNames(const std::string& wanted, const std::vector<std::string>& names, std::size_t count = 3);

// "a, b or c" in quotes; empty when there are none.
std::string quotedChoice(const std::vector<std::string>& names);

// Shell-style glob: '*' any run of characters, '?' one. The whole text must match.
bool globMatches(const std::string& pattern, const std::string& text);

}  // namespace ulpscope::base
