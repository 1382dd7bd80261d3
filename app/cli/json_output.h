// Where --json goes.
#pragma once

#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <string>

namespace ulpscope::cli {

struct JsonTarget {
  std::string path;  // "-": standard output; empty: none
  // Error kind usage when nothing may be written there: it cannot become a file, holds something else than JSON (a slip
  // like `--json model.ts`), is a session's or is named elsewhere in the command.
  base::Status allowed = base::success();
  std::string allowedPath() const { return allowed ? path : ""; }
};

// Found in the words of the command without the parser, since a document is owed also when parsing fails. Of several
// the last counts.
JsonTarget jsonTargetOf(int argc, const char* const* argv);

// "-": standard output. A file is replaced whole or not at all (a new file beside it, sync, rename). A file that is no
// JSON document is never replaced, not even by that of an error. Empty: nothing to do.
base::Status writeJson(const std::string& target, const nlohmann::json& document);
// The same with XML, of --junit.
base::Status writeJUnit(const std::string& target, const std::string& xml);

}  // namespace ulpscope::cli
