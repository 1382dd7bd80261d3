// What users say of a session's runs: names, the baseline, which are deleted. All of it stands in the master; a run's files are touched
// by purgeDeleted alone.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <chrono>
#include <string>
#include <vector>

namespace ulpscope::storage {

struct RunEdit {
  enum class Kind {
    rename,    // `name`; empty: none any more
    baseline,  // runId empty: none any more
    remove,    // the run and its files stay, but it is none of the session's runs; it still counts as tried
    restore    // a deleted run, with all it had
  } kind = Kind::rename;
  std::string runId;  // "run_0002"
  std::string name = {};
};

// Takes the lock, re-reads, makes the change, and writes the master whole, its generation raised by one. Gives the session as it then
// stands; what stands as asked already is not written again. Error kind usage: no such run, or it is deleted (or is not); else as addRun's,
// so also where the session of `sessionId` is no longer the one at that path. After an error nothing is changed.
base::Result<session::Session> editRun(const std::string& masterPath, const std::string& sessionId, const RunEdit& edit,
                                       std::chrono::milliseconds patience = std::chrono::minutes(2));

// Removes the files of all deleted runs for good. Their numbers stay taken, and they still count as tried. A line for each run.
base::Result<std::vector<std::string>> purgeDeleted(const std::string& masterPath);

// "process 12 on host" while somebody writes to the session; empty: nobody does.
std::string lockHolder(const std::string& masterPath);

// Why nothing can be written to it, in a line ("... is read-only, ..."); empty: it seems to be writable. Makes and locks nothing.
std::string whyReadOnly(const std::string& masterPath);

}  // namespace ulpscope::storage
