// Private: the ZIP archive of a packed session, with libzip's errors as ours.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct zip;

namespace ulpscope::storage {

inline constexpr const char* kPackKind = "ulpscope-pack/1";  // the archive's comment
inline constexpr const char* kSumsName = "SHA256SUMS";       // in the session's folder; as sha256sum writes it

// One file of an archive to write: from `path`, or from `bytes` where path is empty.
struct PackEntry {
  std::string name;
  std::string path;
  std::string bytes;
  bool readOnly = true;
};

// Stored without compression, in that order. The archive at `path` must not exist; it is not synced.
base::Status writePack(const std::string& path, const std::vector<PackEntry>& entries);

// An archive whose entries were all looked at: names of one session and of nothing else, none twice, stored, unencrypted,
// and together no longer than the archive.
class PackReader {
 public:
  static base::Result<PackReader> open(const std::string& path);

  const std::string& masterName() const { return m_masterName; }
  // "s.ulps.d/run-0001.metrics.h5" -> "run-0001.metrics.h5", and size in bytes; checksums and master left out.
  const std::map<std::string, std::uint64_t>& runFiles() const { return m_runFiles; }
  std::uint64_t masterSize() const { return m_masterSize; }
  // Of every other entry, by name in the archive; Error when it lacks one or names another.
  base::Result<std::map<std::string, std::string>> sums() const;
  // Feeds the entry to `sink` in pieces, until that gives an Error.
  using Sink = std::function<base::Status(const char* data, std::size_t size)>;
  base::Status read(const std::string& name, const Sink& sink) const;
  std::string folderEntry(const std::string& name) const { return m_masterName + ".d/" + name; }

 private:
  struct Closer {
    void operator()(::zip* archive) const;
  };
  base::Status addEntry(std::int64_t index, std::uint64_t& left);
  base::Status sortEntries(const std::map<std::string, std::uint64_t>& sizes);

  std::string m_path;
  std::unique_ptr<::zip, Closer> m_zip;
  std::map<std::string, std::uint64_t> m_sizes, m_runFiles;
  std::string m_masterName;
  std::uint64_t m_masterSize = 0;
};

}  // namespace ulpscope::storage
