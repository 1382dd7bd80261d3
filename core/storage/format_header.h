// Private: what stands at the root of every file of a session.
#pragma once

#include "core/storage/h5_data.h"

#include <string>

namespace ulpscope::storage {

// NX_class, file_format ("ulpscope-session/1"), creator, versions, session_id.
void writeHeader(hid_t file, const std::string& format, int version, const std::string& sessionId);
// Fails when the file is of another kind or of a newer version.
void checkHeader(hid_t file, const std::string& format, int version);
std::string ulpscopeVersion();
std::string linkedHdf5();  // "1.10.8"; the library's mutex (h5_guard.h) is held

}  // namespace ulpscope::storage
