#include "core/storage/digest.h"

#include "core/base/hashing.h"
#include "core/storage/atomic_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <string_view>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr std::string_view kMark = "\nULPSCOPE SHA-256 ";
constexpr std::size_t kHexDigits = 64;
static_assert(kTrailerBytes == kMark.size() + kHexDigits + 1);
constexpr std::string_view kExtentMark = "\nULPSCOPE RAW ";
constexpr std::size_t kNumberDigits = 16;
constexpr std::size_t kExtentBytes = kExtentMark.size() + 3 * kNumberDigits + 2;
constexpr std::string_view kCountMark = "\nULPSCOPE RAW LINES ";
constexpr std::size_t kCountBytes = kCountMark.size() + kNumberDigits;
constexpr std::string_view kUnwritten = "----------------";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

Error unreadable(const std::string& path) { return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"}; }
Error damaged(const std::string& how, const std::string& path) {
  return Error{ErrorKind::input, "is damaged: " + how, path, "restore it from a copy"};
}

// The data may be whole, but whoever cut the file here cut it.
Result<Integrity> noDigestUnlessCut(const std::string& path, const std::string& tail) {
  constexpr std::size_t kTelling = 6;  // of each mark: as much as chance does not write
  if (tail.find(kMark.substr(0, kTelling)) == std::string::npos) return Integrity{};
  return Error{ErrorKind::input, "is cut short", path, "copy the file again"};
}

class InputFile {
 public:
  explicit InputFile(const std::string& path) : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat info {};
    if (m_fd >= 0 && ::fstat(m_fd, &info) == 0) m_size = static_cast<std::uint64_t>(info.st_size);
  }
  ~InputFile() {
    if (m_fd >= 0) ::close(m_fd);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  std::uint64_t size() const { return m_size; }
  bool read(std::uint64_t offset, char* bytes, std::size_t size) const {
    while (size > 0) {
      const ssize_t got = ::pread(m_fd, bytes, size, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      bytes += got;
      offset += static_cast<std::uint64_t>(got);
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }
  std::optional<std::string> text(std::uint64_t offset, std::size_t size) const {
    std::string bytes(size, '\0');
    return read(offset, bytes.data(), size) ? std::optional(bytes) : std::nullopt;
  }
  // Feeds [from, to) to `sink` in pieces; false when it cannot be read.
  bool feed(std::uint64_t from, std::uint64_t to, std::vector<char>& buffer, const std::function<void(const char*, std::size_t)>& sink) const {
    while (from < to) {
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(to - from, buffer.size()));
      if (!read(from, buffer.data(), piece)) return false;
      sink(buffer.data(), piece);
      from += piece;
    }
    return true;
  }

 private:
  int m_fd;
  std::uint64_t m_size = 0;
};

std::optional<std::uint64_t> hexNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != kNumberDigits || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Extent> extentFrom(std::string_view line) {
  const auto number = [&](std::size_t index) { return line.substr(kExtentMark.size() + index * (kNumberDigits + 1), kNumberDigits); };
  const auto offset = hexNumber(number(0)), size = hexNumber(number(1)), checksum = hexNumber(number(2));
  if (!line.starts_with(kExtentMark) || !offset || !size || (!checksum && number(2) != kUnwritten)) return std::nullopt;
  return Extent{*offset, *size, checksum};
}

// The extents that the lines ending at `end` name, and in `end` where those lines begin. Nothing may be hidden from the digest but
// what HDF5 will be told of: within the data, in order, none over another.
Result<std::vector<Extent>> readExtents(const InputFile& file, const std::string& path, std::uint64_t& end) {
  std::vector<Extent> extents;
  if (end < kCountBytes) return extents;
  const auto last = file.text(end - kCountBytes, kCountBytes);
  if (!last) return unreadable(path);
  if (!last->starts_with(kCountMark)) return extents;
  const auto count = hexNumber(std::string_view(*last).substr(kCountMark.size()));
  if (!count || *count > (end - kCountBytes) / kExtentBytes) return damaged("its list of tensors cannot be read", path);
  const std::uint64_t begin = end - kCountBytes - *count * kExtentBytes;
  const auto lines = file.text(begin, static_cast<std::size_t>(*count) * kExtentBytes);
  if (!lines) return unreadable(path);
  std::uint64_t free = 0;
  for (std::size_t i = 0; i < *count; ++i) {
    const auto extent = extentFrom(std::string_view(*lines).substr(i * kExtentBytes, kExtentBytes));
    if (!extent) return damaged("its list of tensors cannot be read", path);
    if (extent->size == 0 || extent->offset < free || extent->offset > begin || extent->size > begin - extent->offset)
      return damaged("its list of tensors names bytes outside the data or twice", path);
    free = extent->offset + extent->size;
    extents.push_back(*extent);
  }
  end = begin;
  return extents;
}

}  // namespace

struct FastHash::State {
  XXH3_state_t* xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

FastHash::FastHash() : m_state(std::make_unique<State>()) { reset(); }
FastHash::~FastHash() = default;
void FastHash::reset() { ULPSCOPE_CHECK(XXH3_64bits_reset(m_state->xxh) == XXH_OK); }
void FastHash::update(const void* data, std::size_t sizeBytes) { ULPSCOPE_CHECK(XXH3_64bits_update(m_state->xxh, data, sizeBytes) == XXH_OK); }
std::uint64_t FastHash::value() const { return XXH3_64bits_digest(m_state->xxh); }
std::uint64_t fastHash(const void* data, std::size_t sizeBytes) { return XXH3_64bits(data, sizeBytes); }

std::string digestLine(const std::string& hexDigest) { return std::string(kMark) + hexDigest + "\n"; }

std::string extentLines(const std::vector<Extent>& extents) {
  std::string lines;
  for (const Extent& extent : extents)
    lines += fmt::format("{}{:016x} {:016x} {}", kExtentMark, extent.offset, extent.size,
                         extent.checksum ? fmt::format("{:016x}", *extent.checksum) : std::string(kUnwritten));
  return extents.empty() ? "" : lines + fmt::format("{}{:016x}", kCountMark, extents.size());
}

void appendDigest(std::vector<std::byte>& image) {
  base::Sha256 hash;
  hash.update(image.data(), image.size());
  const std::string trailer = digestLine(hash.hexDigest());
  const auto* bytes = reinterpret_cast<const std::byte*>(trailer.data());
  image.insert(image.end(), bytes, bytes + trailer.size());
}

Result<Integrity> checkDigest(const std::string& path, std::uint64_t mostBytes) {
  const InputFile file(path);
  if (file.size() < kTrailerBytes) return Integrity{};
  const std::uint64_t digestAt = file.size() - kTrailerBytes;
  const auto trailer = file.text(digestAt, kTrailerBytes);
  if (!trailer) return unreadable(path);
  if (!trailer->starts_with(kMark) || trailer->back() != '\n') return noDigestUnlessCut(path, *trailer);
  std::uint64_t dataEnd = digestAt;
  auto extents = readExtents(file, path, dataEnd);
  if (!extents) return extents.error();
  std::uint64_t covered = digestAt;
  for (const Extent& extent : extents.value()) covered -= extent.size;
  if (covered > mostBytes) return Integrity{Digest::unread, std::move(extents).value()};
  base::Sha256 hash;
  const auto update = [&](const char* bytes, std::size_t size) { hash.update(bytes, size); };
  std::vector<char> buffer(kPieceBytes);
  std::uint64_t at = 0;
  for (const Extent& extent : extents.value()) {
    if (!file.feed(at, extent.offset, buffer, update)) return unreadable(path);
    at = extent.offset + extent.size;
  }
  if (!file.feed(at, digestAt, buffer, update)) return unreadable(path);
  if (hash.hexDigest() == trailer->substr(kMark.size(), kHexDigits)) return Integrity{Digest::intact, std::move(extents).value()};
  return damaged("its bytes are not those that were written", path);
}

Status checkExtents(const std::string& path, const std::vector<Extent>& extents) {
  const InputFile file(path);
  std::vector<char> buffer(kPieceBytes);
  FastHash hash;
  for (const Extent& extent : extents) {
    if (!extent.checksum) continue;
    hash.reset();
    if (!file.feed(extent.offset, extent.offset + extent.size, buffer, [&](const char* bytes, std::size_t size) { hash.update(bytes, size); }))
      return unreadable(path);
    if (hash.value() != *extent.checksum) return damaged("the bytes of a captured tensor are not those that were written", path);
  }
  return base::success();
}

bool endsInDigest(const std::string& path) {
  const InputFile file(path);
  if (file.size() < kTrailerBytes) return false;
  const auto trailer = file.text(file.size() - kTrailerBytes, kTrailerBytes);
  return trailer && trailer->starts_with(kMark) && trailer->back() == '\n';
}

}  // namespace ulpscope::storage
