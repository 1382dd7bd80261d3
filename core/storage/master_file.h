// Private: the bytes of a master, and back.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ulpscope::storage {

inline constexpr int kSessionFormat = 1;  // raised when an older Ulpscope could misread the file

// `folderName`: name of the session's folder, for the links that other readers follow.
std::vector<std::byte> masterImage(const session::Session& session, const std::string& folderName);
// Throws h5::Failure.
session::Session readMaster(const std::string& path);

}  // namespace ulpscope::storage
