// The folders of checkpoints that lie in a session's folder: what is in them, whose they are, and whether they are whole.
//
// Thread: any.
#pragma once

#include "core/session/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

struct CheckpointFolder {
  int number = 0;                    // of the training
  std::string path;
  std::vector<std::int64_t> steps;   // of its checkpoints, in order
  std::uint64_t sizeBytes = 0;       // of all files in it
  std::string text() const;          // "2 checkpoints, 1.5 MiB"
};

// By number; those that are no folder themselves (a symbolic link) are none.
std::vector<CheckpointFolder> checkpointFolders(const std::string& masterPath);

// A line for each folder whose training the session does not name: it is at work, or a crash ended it.
std::vector<std::string> unnamedCheckpoints(const std::string& masterPath, const session::Session& session);

// Reads every checkpoint that a training's record names; a line for each that is missing or not the one that was written.
std::vector<std::string> checkpointFaults(const std::string& masterPath, const session::Session& session);

}  // namespace ulpscope::storage
