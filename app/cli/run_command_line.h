// A request back as the words that a user types, for "what next" lines.
#pragma once

#include "core/session/settings.h"

#include <string>

namespace ulpscope::cli {

// "ulpscope run MODEL --inputs F ... --session S --append": the same run again into the same session, with whatever
// differs from the defaults. onlySamplesWord stands for the ids where they were chosen by a word.
std::string appendCommand(session::RunRequest request, const std::string& onlySamplesWord = "");

// A path as short as it can be said from the working directory.
std::string shownPath(const std::string& path);

}  // namespace ulpscope::cli
