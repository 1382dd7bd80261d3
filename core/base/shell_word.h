// Commands that a user may copy into a shell.
#pragma once

#include <string>

namespace ulpscope::base {

// Quoted for a POSIX shell where needed.
std::string shellWord(const std::string& word);

}  // namespace ulpscope::base
