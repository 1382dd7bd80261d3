// Where --json goes.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <string>

namespace ulpscope::cli {

// Error kind usage when `target` cannot become a file, or is one that holds something else than JSON (a slip like
// `--json model.ts`): asked before the work, so that no result is lost after it.
base::Status checkJsonTarget(const std::string& target);

// "-": standard output. A file is replaced whole or not at all (.part, sync, rename). A file that is no
// JSON document is never replaced, not even by that of an error. Empty: nothing to do.
base::Status writeJson(const std::string& target, const nlohmann::json& document);

// The target named in the words of the command, found without the parser: a document is owed also when parsing fails.
std::string jsonTargetOf(int argc, const char* const* argv);

}  // namespace ulpscope::cli
