// Private: what all that write to a session or read its runs ask of it first.
#pragma once

#include "core/storage/adoption.h"
#include "core/storage/session_paths.h"
#include "core/storage/session_store.h"

#include <string>

namespace ulpscope::storage {

// Everything about the target that can be known before the lock is taken.
base::Status checkTarget(const std::string& master, WriteMode mode);
// What stands on disk now, with `session`'s own words where nobody else wrote since it was read.
base::Result<session::Session> merged(const SessionView& view, const std::string& master, const session::Session& session);
// Needs the lock.
base::Status writeMaster(const std::string& master, const session::Session& session);

// Finds the run and its file; says in the user's words what is wrong with either.
base::Result<std::string> fileOfRun(const std::string& master, const session::Session& session, const std::string& runId, RunFileKind kind);

}  // namespace ulpscope::storage
