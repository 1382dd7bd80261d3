// A request back as the words that a user types.
#pragma once

#include "core/session/settings.h"

#include <string>

namespace ulpscope::session {

// "ulpscope run MODEL --inputs F ... --session S": with whatever differs from the defaults, paths as they stand in the request, without --append
// and --criteria. onlySamplesWord stands for the ids where they were chosen by a word. Not of a recorded run, which no engine repeats.
std::string runCommand(const RunRequest& request, const std::string& onlySamplesWord = "");

}  // namespace ulpscope::session
