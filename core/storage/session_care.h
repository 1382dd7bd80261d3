// What a session lacks, or has too much of, and its repair.
//
// Thread: any; functions of this folder wait for each other where they use HDF5.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <string>
#include <vector>

namespace ulpscope::storage {

struct OpenedSession {
  session::Session session;
  // One line each: run files that are missing, runs that no master names yet, halves of runs, links for other readers
  // that name the session's folder before a rename, checkpoints of trainings that it does not name. Empty: all is in place.
  std::vector<std::string> notes;
};

// As openSession, with what there is to say about the folder. Changes nothing.
base::Result<OpenedSession> openWithNotes(const std::string& masterPath);

// Takes the lock (a writer at work is an Error), then: adopts complete runs that the master does not name, sets halves
// aside in <name>.ulps.d/set-aside, removes parts of interrupted writes, and makes the links for other readers name the
// session's folder. Deletes nothing else. Gives one line for each thing done, and for each that is missing; empty when
// there was nothing to do. Reads the checkpoints of trainings: a line for each that is not the one that was written, and for each
// folder of checkpoints that no training names. Without a master it does what removeDeadParts does and names those folders, where there
// is anything to do or to name.
base::Result<std::vector<std::string>> repairSession(const std::string& masterPath);

// Parts of tensors files that dead writers left, removed under the lock; where no master came to be and nothing else lies in it, the
// folder too. Checkpoints stay: the next opening adopts them. For a writer that had to be killed. Gives a line for each file.
base::Result<std::vector<std::string>> removeDeadParts(const std::string& masterPath);

}  // namespace ulpscope::storage
