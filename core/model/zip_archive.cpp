#include "core/model/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace ulpscope::model {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr std::uint64_t kLargestInflated = std::uint64_t{1} << 30;
constexpr std::uint64_t kLargestRatio = 1000;
constexpr std::uint64_t kRatioCountsFrom = std::uint64_t{1} << 20;  // below, a ratio harms nobody

Error damaged(const std::string& path, const std::string& what) {
  return Error{ErrorKind::input, what, path, "copy the file again, or export the model again"};
}

Result<std::uint64_t> sizeOfPlainFile(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return errno == ENOENT ? Error{ErrorKind::input, "does not exist", path, "check the path"}
                           : Error{ErrorKind::input, std::string("cannot be looked at: ") + std::strerror(errno), path, "check the path and its permissions"};
  if (S_ISDIR(info.st_mode)) return Error{ErrorKind::input, "is a folder, not a model file", path, "name the .pt or .ts file itself"};
  if (!S_ISREG(info.st_mode)) return Error{ErrorKind::input, "is no plain file", path, "name a file on a disk"};
  if (info.st_size == 0) return Error{ErrorKind::input, "is empty", path, "copy the file again, or export the model again"};
  if (::access(path.c_str(), R_OK) != 0)
    return Error{ErrorKind::input, std::string("cannot be read: ") + std::strerror(errno), path, "check its permissions"};
  return static_cast<std::uint64_t>(info.st_size);
}

// Why libzip does not take the file, from its first bytes.
Error notAZip(const std::string& path, const std::string& reason) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> head{};
  file.read(head.data(), head.size());
  if (std::memcmp(head.data(), "PK\3\4", 4) == 0)
    return damaged(path, "is a zip archive that is cut short or damaged (" + reason + ")");
  const bool pickle = head[0] == '\x80' && (head[1] >= 2 && head[1] <= 5);
  return Error{ErrorKind::input, std::string("is not a TorchScript model") + (pickle ? " but a pickle (a state dict or an object of torch.save)" : " (not a zip archive)"),
               path, "state dict or pickle: export the model with torch.jit.script or torch.jit.trace, see ulpscope snippet"};
}

Status checkRecord(const zip_stat_t& stat) {
  const std::string which = stat.name;
  if (stat.encryption_method != ZIP_EM_NONE) return Error{ErrorKind::input, "is encrypted", which, "TorchScript models never are"};
  if (stat.comp_method == ZIP_CM_STORE)
    return stat.size == stat.comp_size ? base::success() : Status(Error{ErrorKind::input, "contradicts itself about its size", which, "do not load this file"});
  if (stat.comp_method != ZIP_CM_DEFLATE) return Error{ErrorKind::input, "is compressed in a way TorchScript never uses", which, "do not load this file"};
  const bool ratio = stat.size > kRatioCountsFrom && stat.size / kLargestRatio > stat.comp_size;
  if (stat.size > kLargestInflated || ratio)
    return Error{ErrorKind::input, fmt::format("claims to hold {} bytes in {} compressed ones", stat.size, stat.comp_size), which, "do not load this file"};
  return base::success();
}

}  // namespace

void ZipArchive::Closer::operator()(::zip* archive) const { zip_discard(archive); }

ZipArchive::ZipArchive() = default;
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;
ZipArchive::~ZipArchive() = default;

Result<ZipArchive> ZipArchive::open(const std::string& path) {
  const auto fileSize = sizeOfPlainFile(path);
  if (!fileSize) return fileSize.error();
  int code = 0;
  ZipArchive archive;
  archive.m_path = path;
  archive.m_zip.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (code == ZIP_ER_EXISTS) return damaged(path, "has two records of one name");
  if (!archive.m_zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    return notAZip(path, reason);
  }
  std::uint64_t storedBytes = 0;
  const zip_int64_t count = zip_get_num_entries(archive.m_zip.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.m_zip.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0 || !stat.name)
      return damaged(path, fmt::format("has an unreadable record {}", i));
    if (auto checked = checkRecord(stat); !checked) return checked.error().within(path);
    if (stat.comp_size > fileSize.value() || (storedBytes += stat.comp_size) > fileSize.value())
      return damaged(path, fmt::format("is {} bytes long but its records claim more (at '{}')", fileSize.value(), stat.name));
    archive.m_records.push_back({stat.name, static_cast<std::uint64_t>(i), stat.size});
  }
  return archive;
}

Status ZipArchive::read(const ZipRecord& record, const std::function<void(std::string_view)>& sink) const {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const auto place = m_path + ", " + record.name;
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(m_zip.get(), record.index, 0), zip_fclose);
  if (!file) return damaged(place, std::string("cannot be read: ") + zip_strerror(m_zip.get()));
  std::vector<char> buffer(kPiece);
  std::uint64_t total = 0;
  for (;;) {
    const zip_int64_t got = zip_fread(file.get(), buffer.data(), buffer.size());
    if (got < 0) return damaged(place, std::string("is damaged: ") + zip_file_strerror(file.get()));
    if (got == 0) break;
    total += static_cast<std::uint64_t>(got);
    if (total > record.sizeBytes) break;
    sink({buffer.data(), static_cast<std::size_t>(got)});
  }
  if (total != record.sizeBytes) return damaged(place, fmt::format("is damaged: it does not hold the {} bytes it declares", record.sizeBytes));
  return base::success();
}

}  // namespace ulpscope::model
