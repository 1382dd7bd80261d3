#include "core/model/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

constexpr std::uint64_t kRatioCountsFrom = std::uint64_t{1} << 20;  // below, a ratio harms nobody

struct ZipLimits {
  const char* maker;       // of such archives
  const char* again;       // the remedy
  std::uint64_t inflated;  // most bytes of a compressed record
  std::uint64_t ratio;
};

const ZipLimits& limitsOf(ZipUse use) {
  // deflate shrinks at most about 1,032 times (zlib.net, "Technical Details").
  static constexpr ZipLimits kModels{"TorchScript", "copy the file again, or export the model again", std::uint64_t{1} << 30, 1000};
  static constexpr ZipLimits kArrays{"numpy.savez", "copy the file again, or save it again with numpy.savez", std::uint64_t{1} << 46, 1100};
  return use == ZipUse::models ? kModels : kArrays;
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
Error notAZip(const std::string& path, const std::string& reason, ZipUse use) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> head{};
  file.read(head.data(), head.size());
  if (std::memcmp(head.data(), "PK\3\4", 4) == 0)
    return Error{ErrorKind::input, "is a zip archive that is cut short or damaged (" + reason + ")", path, limitsOf(use).again};
  const bool pickle = head[0] == '\x80' && (head[1] >= 2 && head[1] <= 5);
  return Error{ErrorKind::input, std::string("is not a TorchScript model") + (pickle ? " but a pickle (a state dict or an object of torch.save)" : " (not a zip archive)"),
               path, "state dict or pickle: export the model with torch.jit.script or torch.jit.trace, see ulpscope snippet"};
}

Status checkRecord(const zip_stat_t& stat, const ZipLimits& limits) {
  const std::string which = stat.name;
  if (stat.encryption_method != ZIP_EM_NONE) return Error{ErrorKind::input, "is encrypted", which, fmt::format("{} never does that", limits.maker)};
  if (stat.comp_method == ZIP_CM_STORE)
    return stat.size == stat.comp_size ? base::success() : Status(Error{ErrorKind::input, "contradicts itself about its size", which, "do not load this file"});
  if (stat.comp_method != ZIP_CM_DEFLATE) return Error{ErrorKind::input, fmt::format("is compressed in a way {} never uses", limits.maker), which, "do not load this file"};
  const bool ratio = stat.size > kRatioCountsFrom && stat.size / limits.ratio > stat.comp_size;
  if (stat.size > limits.inflated || ratio)
    return Error{ErrorKind::input, fmt::format("claims to hold {} bytes in {} compressed ones", stat.size, stat.comp_size), which, "do not load this file"};
  return base::success();
}

}  // namespace

void ZipArchive::Closer::operator()(::zip* archive) const { zip_discard(archive); }

ZipArchive::ZipArchive() = default;
ZipArchive::ZipArchive(ZipArchive&&) noexcept = default;
ZipArchive::~ZipArchive() = default;

Error ZipArchive::damaged(const std::string& which, const std::string& what) const { return Error{ErrorKind::input, what, which, limitsOf(m_use).again}; }

Status ZipArchive::addRecord(std::uint64_t index, std::uint64_t fileBytes, std::uint64_t& storedBytes) {
  zip_stat_t stat;
  if (zip_stat_index(m_zip.get(), index, 0, &stat) != 0 || !stat.name) return damaged(m_path, fmt::format("has an unreadable record {}", index));
  if (auto checked = checkRecord(stat, limitsOf(m_use)); !checked) return checked.error().within(m_path);
  if (stat.comp_size > fileBytes || (storedBytes += stat.comp_size) > fileBytes)
    return damaged(m_path, fmt::format("is {} bytes long but its records claim more (at '{}')", fileBytes, stat.name));
  m_records.push_back({stat.name, index, stat.size});
  return base::success();
}

Result<ZipArchive> ZipArchive::open(const std::string& path, ZipUse use) {
  const auto fileSize = sizeOfPlainFile(path);
  if (!fileSize) return fileSize.error();
  int code = 0;
  ZipArchive archive;
  archive.m_path = path;
  archive.m_use = use;
  archive.m_zip.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (code == ZIP_ER_EXISTS) return archive.damaged(path, "has two records of one name");
  if (!archive.m_zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    return notAZip(path, reason, use);
  }
  std::uint64_t storedBytes = 0;
  const zip_int64_t count = zip_get_num_entries(archive.m_zip.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i)
    if (auto added = archive.addRecord(static_cast<std::uint64_t>(i), fileSize.value(), storedBytes); !added) return added.error();
  return archive;
}

Result<std::string> ZipArchive::head(const ZipRecord& record, std::size_t count) const {
  const auto place = m_path + ", " + record.name;
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(m_zip.get(), record.index, 0), zip_fclose);
  if (!file) return damaged(place, std::string("cannot be read: ") + zip_strerror(m_zip.get()));
  std::string bytes(std::min<std::uint64_t>(count, record.sizeBytes), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + done, bytes.size() - done);
    if (got <= 0) return damaged(place, std::string("is damaged: ") + (got < 0 ? zip_file_strerror(file.get()) : "it ends too early"));
    done += static_cast<std::size_t>(got);
  }
  return bytes;
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
