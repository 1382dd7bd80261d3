#include "core/storage/integrity.h"

#include "core/base/hashing.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Status;

constexpr std::string_view kMark = "\nULPSCOPE SHA-256 ";
constexpr std::size_t kHexDigits = 64;
constexpr std::size_t kTrailerBytes = kMark.size() + kHexDigits + 1;

Error unreadable(const std::string& path) { return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"}; }

// The data may be whole, but whoever cut the file here cut it.
Status checkNotCutInDigest(const std::string& path, const std::string& tail) {
  constexpr std::size_t kTelling = 6;  // of the mark: as much as chance does not write
  if (tail.find(kMark.substr(0, kTelling)) == std::string::npos) return base::success();
  return Error{ErrorKind::input, "is cut short", path, "copy the file again"};
}

// Ends that a crash of HDF5 must not reach: our stderr, the disk (a core file), the clock.
void confineChild(const std::string& path) {
  constexpr rlim_t kSeconds = 60, kBytesASecond = rlim_t{1} << 21;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const rlimit noCore{0, 0};
  const rlim_t seconds = kSeconds + (ignored ? 0 : static_cast<rlim_t>(size) / kBytesASecond);
  const rlimit time{seconds, seconds};
  ::setrlimit(RLIMIT_CORE, &noCore);
  ::setrlimit(RLIMIT_CPU, &time);
  const int null = ::open("/dev/null", O_WRONLY);
  if (null >= 0) ::dup2(null, STDERR_FILENO);
}

void tell(int pipe, const Error& error) {
  const std::string text = base::toJson(error).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(pipe, text.data() + done, text.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

std::string listen(int pipe) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t got = ::read(pipe, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

void appendDigest(std::vector<std::byte>& image) {
  const std::string digest = base::sha256({reinterpret_cast<const char*>(image.data()), image.size()});
  const std::string trailer = std::string(kMark) + digest + "\n";
  const auto* bytes = reinterpret_cast<const std::byte*>(trailer.data());
  image.insert(image.end(), bytes, bytes + trailer.size());
}

Status checkDigest(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  auto left = static_cast<std::streamoff>(file.tellg());
  if (!file || left < static_cast<std::streamoff>(kTrailerBytes)) return base::success();
  left -= static_cast<std::streamoff>(kTrailerBytes);
  std::string trailer(kTrailerBytes, '\0');
  if (!file.seekg(left) || !file.read(trailer.data(), static_cast<std::streamsize>(trailer.size()))) return unreadable(path);
  if (!trailer.starts_with(kMark) || trailer.back() != '\n') return checkNotCutInDigest(path, trailer);
  base::Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  file.seekg(0);
  while (left > 0) {
    const auto piece = std::min<std::streamoff>(left, static_cast<std::streamoff>(buffer.size()));
    if (!file.read(buffer.data(), piece)) return unreadable(path);
    hash.update(buffer.data(), static_cast<std::size_t>(piece));
    left -= piece;
  }
  if (hash.hexDigest() == trailer.substr(kMark.size(), kHexDigits)) return base::success();
  return Error{ErrorKind::input, "is damaged: its bytes are not those that were written", path, "restore it from a copy"};
}

Status tryInChild(const std::string& path, const std::function<Status()>& read) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::success();
  const pid_t child = ::fork();
  if (child == 0) {
    confineChild(path);
    const Status status = read();
    if (!status) tell(ends[1], status.error());
    ::_exit(0);
  }
  ::close(ends[1]);
  const std::string told = child > 0 ? listen(ends[0]) : "";
  ::close(ends[0]);
  if (child < 0) return base::success();  // no process to spare: read without the net
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return base::success();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorKind::input, "is damaged: HDF5 fails on it", path, "restore it from a copy, or write it again"};
  if (told.empty()) return base::success();
  return base::errorFromJson(nlohmann::json::parse(told));
}

}  // namespace ulpscope::storage
