// Private: runs that a crash left: complete ones whose master was never written (the writer ended between the renames), and the last
// checkpoint of those that were still at work.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"
#include "core/storage/record_files.h"
#include "core/storage/session_folder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

// What cannot be adopted: half a pair, a pair that does not read, or one of another session (which stays where it is).
struct Leftover {
  UnnamedRun run;
  std::string fault;  // "run-0007.metrics.h5: ..."
  bool ofOtherSession = false;
};

// The same of a record's file.
struct RecordLeftover {
  std::string file;
  std::string fault;  // "train-0007.json: ..."
  bool ofOtherSession = false;
};

struct AdoptedRecord {
  const RecordKind* kind = nullptr;
  int number = 0;
};

struct Adoption {
  std::vector<std::string> runIds;
  std::vector<int> checkpoints;  // numbers of those whose metrics file is still a checkpoint's part
  std::vector<Leftover> leftovers;
  std::vector<AdoptedRecord> records = {};
  std::vector<RecordLeftover> recordLeftovers = {};
  bool any() const { return !runIds.empty() || !records.empty(); }
};

// The warning of a run that is a checkpoint, and whether a run is one: it has no outputs, and lawfully no tensors file.
std::string interruptedWarning(std::int64_t samplesComplete, std::int64_t samples);
bool wasInterrupted(const session::RunRecord& run);

// Adds every complete pair of this session, and every last checkpoint, to `session`, in the order of their numbers, each with a warning
// that says what it is. Touches nothing on disk.
Adoption adoptRuns(const std::string& master, session::Session& session);

// The same of every record's file that is complete and of this session: a writer that does not know its kind dropped its name, or the writer
// ended before the master's rename.
void adoptRecords(const std::string& master, session::Session& session, Adoption& adoption);

struct SessionView {
  session::Session session;  // adopted runs and records included
  Adoption adoption;
  std::string linkedFolder;  // Master::linkedFolder
  bool writerActive = false;
};
enum class Viewer {
  writer,  // holds the lock
  reader   // where a writer is active, what is incomplete is that writer's affair, and no leftover
};
base::Result<SessionView> viewSession(const std::string& masterPath, Viewer viewer);

// Puts checkpoints in the place of metrics files, and sets leftovers aside that are not of another session; needs the lock. Gives a
// line for each leftover.
base::Result<std::vector<std::string>> clearLeftovers(const std::string& master, const Adoption& adoption);

}  // namespace ulpscope::storage
