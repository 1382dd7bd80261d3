#include "core/storage/pack_archive.h"

#include "core/base/number_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/h5_data.h"
#include "core/storage/session_paths.h"

#include <sys/stat.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr std::int64_t kMostEntries = 2 * kLargestRunNumber + 2;
constexpr std::uint64_t kLargestSums = std::uint64_t{8} << 20;
constexpr std::string_view kPackPrefix = "ulpscope-pack/";

Error zipError(const std::string& what, const std::string& path, zip_error_t* error) {
  if (zip_error_system_type(error) == ZIP_ET_SYS) return systemError(what, path, zip_error_code_system(error));
  return Error{ErrorKind::input, what + ": " + zip_error_strerror(error), path, "copy the file again"};
}

Error hostile(const std::string& what, const std::string& path) {
  return Error{ErrorKind::input, what, path, "unpack only what `ulpscope pack` wrote"};
}

// What a directory listing can show and no shell or terminal trips over.
bool isPlainName(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  return !name.empty() && name.size() <= kLongest && name[0] != '.' && h5::isUtf8(name) &&
         std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 127 || c == '/' || c == '\\' || c == ':'; });
}

std::string printable(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return text.substr(0, 100);
}

Status addFile(zip_t* archive, const std::string& archivePath, const PackEntry& entry) {
  zip_source_t* source = entry.path.empty() ? zip_source_buffer(archive, entry.bytes.data(), entry.bytes.size(), 0)
                                            : zip_source_file(archive, entry.path.c_str(), 0, -1);
  const zip_int64_t index = source ? zip_file_add(archive, entry.name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0 && source) zip_source_free(source);
  const auto place = static_cast<zip_uint64_t>(index);
  const zip_uint32_t mode = S_IFREG | (entry.readOnly ? 0444U : 0644U);
  if (index < 0 || zip_set_file_compression(archive, place, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_external_attributes(archive, place, 0, ZIP_OPSYS_UNIX, mode << 16) != 0)
    return zipError("cannot hold " + entry.name, archivePath, zip_get_error(archive));
  return base::success();
}

Status checkComment(zip_t* archive, const std::string& path) {
  int length = 0;
  const char* text = zip_get_archive_comment(archive, &length, ZIP_FL_ENC_RAW);
  const std::string comment = text ? std::string(text, static_cast<std::size_t>(length)) : "";
  if (comment == kPackKind) return base::success();
  if (comment.starts_with(kPackPrefix))
    return Error{ErrorKind::input, "has the format '" + printable(comment) + "', this Ulpscope reads '" + kPackKind + "'", path, "unpack it with the Ulpscope that packed it, or a newer one"};
  return Error{ErrorKind::input, "is a ZIP archive, but no packed session", path, "check that this is the file you meant"};
}

}  // namespace

Status writePack(const std::string& path, const std::vector<PackEntry>& entries) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &code);
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const Error result = zipError("cannot be created", path, &error);
    zip_error_fini(&error);
    return result;
  }
  Status status = base::success();
  for (const PackEntry& entry : entries)
    if (status) status = addFile(archive, path, entry);
  if (status && zip_set_archive_comment(archive, kPackKind, static_cast<zip_uint16_t>(std::string_view(kPackKind).size())) != 0)
    status = zipError("cannot be written", path, zip_get_error(archive));
  if (status && zip_close(archive) == 0) return status;
  if (status) status = zipError("cannot be written", path, zip_get_error(archive));
  zip_discard(archive);
  return status;
}

void PackReader::Closer::operator()(::zip* archive) const { zip_discard(archive); }

Result<PackReader> PackReader::open(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  PackReader reader;
  reader.m_path = path;
  int code = 0;
  reader.m_zip.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (!reader.m_zip) {
    const bool foreign = code == ZIP_ER_NOZIP;
    return Error{ErrorKind::input, foreign ? "is no ZIP archive" : "is a damaged ZIP archive", path, foreign ? "name a file that `ulpscope pack` wrote" : "copy the file again"};
  }
  if (auto kind = checkComment(reader.m_zip.get(), path); !kind) return kind.error();
  const zip_int64_t count = zip_get_num_entries(reader.m_zip.get(), 0);
  if (count > kMostEntries) return hostile("holds " + base::groupedInteger(count) + " entries, more than any session", path);
  std::error_code failed;
  std::uint64_t left = std::filesystem::file_size(path, failed);
  for (zip_int64_t i = 0; i < count; ++i)
    if (auto added = reader.addEntry(i, left); !added) return added.error();
  if (auto sorted = reader.sortEntries(reader.m_sizes); !sorted) return sorted.error();
  return reader;
}

// Stored entries that together fit into the archive cannot grow: that is all it takes against bombs.
Status PackReader::addEntry(std::int64_t index, std::uint64_t& left) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(m_zip.get(), static_cast<zip_uint64_t>(index), 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
    return hostile("has an entry that cannot be looked at", m_path);
  const std::string shown = "'" + printable(stat.name) + "'";
  if (stat.comp_method != ZIP_CM_STORE || stat.encryption_method != ZIP_EM_NONE) return hostile("holds " + shown + " compressed or encrypted, which no packed session does", m_path);
  if (stat.size > left) return hostile("declares more data than it is long", m_path);
  left -= stat.size;
  if (!m_sizes.emplace(stat.name, stat.size).second) return hostile("holds " + shown + " twice", m_path);
  return base::success();
}

Status PackReader::sortEntries(const std::map<std::string, std::uint64_t>& sizes) {
  for (const auto& [name, size] : sizes)
    if (isPlainName(name)) {
      if (!m_masterName.empty()) return hostile("holds two sessions, '" + printable(m_masterName) + "' and '" + printable(name) + "'", m_path);
      m_masterName = name;
      m_masterSize = size;
    }
  if (m_masterName.empty()) return hostile("holds no session file", m_path);
  const std::string folder = m_masterName + ".d/";
  bool hasSums = false;
  for (const auto& [name, size] : sizes) {
    if (name == m_masterName) continue;
    const std::string file = name.starts_with(folder) ? name.substr(folder.size()) : "";
    if (file == kSumsName && size <= kLargestSums)
      hasSums = true;
    else if (runNumberOfFile(file) || trainingNumberOfFile(file) || scanNumberOfFile(file))
      m_runFiles.emplace(file, size);
    else
      return hostile("holds '" + printable(name) + "', which is no file of a session", m_path);
  }
  return hasSums ? base::success() : Status(hostile("holds no checksums", m_path));
}

Result<std::map<std::string, std::string>> PackReader::sums() const {
  constexpr std::size_t kHex = 64;
  std::string text;
  const auto got = read(folderEntry(kSumsName), [&](const char* data, std::size_t size) {
    text.append(data, size);
    return base::success();
  });
  if (!got) return got.error();
  std::map<std::string, std::string> sums;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > kHex + 2) sums[line.substr(kHex + 2)] = line.substr(0, kHex);
  for (const auto& [name, size] : m_sizes)
    if (name != folderEntry(kSumsName) && !sums.contains(name)) return hostile("has no checksum for '" + printable(name) + "'", m_path);
  if (sums.size() != m_sizes.size() - 1) return Error{ErrorKind::input, "lacks files that its checksums name", m_path, "pack the session again"};
  return sums;
}

Status PackReader::read(const std::string& name, const Sink& sink) const {
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen(m_zip.get(), name.c_str(), 0), zip_fclose);
  if (!file) return zipError("cannot give " + name, m_path, zip_get_error(m_zip.get()));
  std::vector<char> piece(std::size_t{1} << 20);
  std::uint64_t left = m_sizes.at(name);
  for (;;) {
    const zip_int64_t got = zip_fread(file.get(), piece.data(), piece.size());
    if (got < 0) return zipError("cannot give " + name, m_path, zip_file_get_error(file.get()));
    if (got == 0) break;
    if (static_cast<std::uint64_t>(got) > left) return hostile("holds more of '" + printable(name) + "' than it declares", m_path);
    left -= static_cast<std::uint64_t>(got);
    if (auto taken = sink(piece.data(), static_cast<std::size_t>(got)); !taken) return taken;
  }
  return left == 0 ? base::success() : Status(Error{ErrorKind::input, "is cut short within '" + printable(name) + "'", m_path, "copy the file again"});
}

}  // namespace ulpscope::storage
