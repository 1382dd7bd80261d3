// Private: the bytes of a master, and back.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ulpscope::storage {

inline constexpr int kSessionFormat = 3;  // raised when an older Ulpscope could misread the file, or a newer one cannot read the older

// `folderName`: name of the session's folder, for the links that other readers follow.
std::vector<std::byte> masterImage(const session::Session& session, const std::string& folderName);

struct Master {
  session::Session session;
  std::string linkedFolder;  // the folder its links for other readers name; empty without runs
};
// Throws h5::Failure.
Master readMaster(const std::string& path);
// Everything in a run that indexes sites or samples is checked here once, so that no reader has to. Throws h5::Failure.
void checkIndices(const session::RunRecord& run, std::size_t samples);

}  // namespace ulpscope::storage
