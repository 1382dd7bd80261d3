// Private: runs whose files are complete but whose master was never written (the writer ended between the renames).
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/storage/session_folder.h"

#include <string>
#include <vector>

namespace ulpscope::storage {

// What cannot be adopted: half a pair, a pair that does not read, or one of another session (which stays where it is).
struct Leftover {
  UnnamedRun run;
  std::string fault;  // "run-0007.metrics.h5: ..."
  bool ofOtherSession = false;
};

struct Adoption {
  std::vector<std::string> runIds;
  std::vector<Leftover> leftovers;
};

// Adds every complete pair of this session to `session`, in the order of their numbers, each with a warning that says so.
// Touches nothing on disk.
Adoption adoptRuns(const std::string& master, session::Session& session);

struct SessionView {
  session::Session session;  // adopted runs included
  Adoption adoption;
  std::string linkedFolder;  // Master::linkedFolder
  bool writerActive = false;
};
enum class Viewer {
  writer,  // holds the lock
  reader   // where a writer is active, what is incomplete is that writer's affair, and no leftover
};
base::Result<SessionView> viewSession(const std::string& masterPath, Viewer viewer);

// Sets aside what is not of another session; needs the lock. Gives a line for each leftover.
base::Result<std::vector<std::string>> clearLeftovers(const std::string& master, const Adoption& adoption);

}  // namespace ulpscope::storage
