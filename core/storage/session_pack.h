// A session as one file to mail: a ZIP archive of the session's own files, stored as they are (FORMAT.md).
//
// Thread: any; functions of this folder wait for each other where they use HDF5.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

struct PackSummary {
  std::string path;  // of the archive, or of the session
  std::string sessionTitle;
  std::int64_t runs = 0;
  std::int64_t files = 0;  // master and run files
  std::uint64_t sizeBytes = 0;  // of those files
  std::vector<std::string> notes;  // one line each: what was left out or is missing
};

enum class Tensors { included, leftOut };

// Writes masterPath's session to packPath (empty: masterPath + ".zip"), checksums included. Never overwrites (kind
// usage). A run file that is missing is a note; one that is damaged is an Error. Needs no lock: a run being written
// meanwhile is in it or not.
base::Result<PackSummary> packSession(const std::string& masterPath, const std::string& packPath, Tensors tensors);

// The reverse, to masterPath (empty: under its own name in the working directory); every file comes out bit for bit, or
// nothing is left. Never overwrites. Refuses archives with other names, with compressed or encrypted entries, with more
// data than the archive is long, and with files that do not match their checksums.
base::Result<PackSummary> unpackSession(const std::string& packPath, const std::string& masterPath);

}  // namespace ulpscope::storage
