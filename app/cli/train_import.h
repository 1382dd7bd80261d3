// `ulpscope train --import LOG`.
#pragma once

#include "commands.h"
#include "core/session/training.h"

#include <string>

namespace ulpscope::cli {

struct ImportedTraining {
  std::string sessionPath;
  session::Training training;  // with its number there
};

// Takes the log of somebody's own loop, and the ledger beside it (loop.jsonl: loop.ledger.jsonl), into a session as a training. sessionPath: empty: the
// log's name with .ulps. append: the session may exist; its model is then taken for the loop's, with a warning where its type is another.
// Errors are those of the readers, of analysis::recordedTraining and of storage::addTraining. No engine.
base::Result<ImportedTraining> importTraining(const std::string& log, std::string sessionPath, bool append);

inline constexpr const char* kImportHelp =
    "\nYour own Python loop: ulpscope_recorder.py (`ulpscope snippet --recorder`) writes its log and ledger, --import takes both into a session:\n"
    "  ulpscope train --import loop.jsonl --session loop.ulps && ulpscope gui loop.ulps\n";

}  // namespace ulpscope::cli
