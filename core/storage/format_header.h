// Private: what stands at the root of every file of a session.
#pragma once

#include "core/storage/h5_data.h"

#include <string>

namespace ulpscope::storage {

// NX_class, file_format ("ulpscope-session/3"), creator, versions.
void writeHeader(hid_t file, const std::string& format, int version);
// And session_id.
void writeHeader(hid_t file, const std::string& format, int version, const std::string& sessionId);
// The file's own version. Fails when the file is of another kind, of a newer version or of one that is read no more.
int checkHeader(hid_t file, const std::string& format, int version);
std::string ulpscopeVersion();
std::string linkedHdf5();  // "1.10.8"; the library's mutex (h5_guard.h) is held

}  // namespace ulpscope::storage
