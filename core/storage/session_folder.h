// Private: what lies in a session's folder beside the files its master names.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/storage/record_files.h"

#include <string>
#include <vector>

namespace ulpscope::storage {

inline constexpr const char* kSetAside = "set-aside";  // subfolder: kept, never read, never deleted

// A run whose files no master names, and that nobody is writing: at least one of the three.
struct UnnamedRun {
  int number = 0;
  bool metrics = false, tensors = false;
  bool checkpoint = false;  // run-0007.metrics.h5.part; looked at only where there are no metrics
  std::vector<std::string> names() const;  // "run-0007.metrics.h5"; with the checkpoint where it counts
};

bool isFolder(const std::string& path);  // a folder itself, no symbolic link to one
bool writerIsActive(const std::string& folder);
// Whether a process holds the run's tensors file or its part: it does so from the run's begin to its end.
bool runIsBeingWritten(const std::string& folder, int number);
bool someRunIsBeingWritten(const std::string& folder);
std::vector<UnnamedRun> unnamedRuns(const std::string& folder, const session::Session& session);  // by number
// Numbers of the records of a kind whose files no master names.
std::vector<int> unnamedRecords(const RecordKind& kind, const std::string& folder, const session::Session& session);
// Paths of parts that no writer needs any more and that nothing can be made of: of the master, of run files and of records, but not the
// checkpoint that is all there is of a run. Those of the master and of records are written under the lock only.
std::vector<std::string> partFiles(const std::string& master);
// Removes those; needs the lock. Gives a line for each.
base::Result<std::vector<std::string>> removeParts(const std::string& master);
// Moves folder/name into folder/set-aside, under a name that is free there. Gives that path.
base::Result<std::string> setAside(const std::string& folder, const std::string& name);
// What is wrong when the session has runs or records but no folder; names the folder it was renamed away from where that stands
// beside it.
base::Error missingFolder(const std::string& master, const session::Session& session, const std::string& linkedFolder);

}  // namespace ulpscope::storage
