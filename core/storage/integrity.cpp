#include "core/storage/integrity.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using Clock = std::chrono::steady_clock;

// Ends that a crash of HDF5 must not reach: our stderr, the disk (a core file), the processor. Nor may the child outlive
// us: it shares our descriptors, and so the lock of a session.
void confineChild(std::chrono::milliseconds patience) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit noCore{0, 0};
  const auto seconds = static_cast<rlim_t>(1 + patience.count() / 1000);
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

// What the child told until it closed its end; nothing when that took too long.
std::optional<std::string> listen(int pipe, Clock::time_point giveUp) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(giveUp - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd end{pipe, POLLIN, 0};
    const int ready = ::poll(&end, 1, static_cast<int>(std::min<decltype(left)>(left, 1'000'000)));
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0) continue;
    const ssize_t got = ::read(pipe, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

// Its exit status as waitpid gives it; nothing when somebody else took it.
std::optional<int> statusOf(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::nullopt;
  return status;
}

[[noreturn]] void readAndTell(int pipe, const std::function<Status()>& read, std::chrono::milliseconds patience) {
  confineChild(patience);
  const Status status = read();
  if (!status) tell(pipe, status.error());
  ::_exit(0);
}

}  // namespace

std::chrono::milliseconds trialPatience(const std::string& path) {
  constexpr std::uintmax_t kBytesAMillisecond = 1024;
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  return std::chrono::minutes(1) + std::chrono::milliseconds(failed ? 0 : size / kBytesAMillisecond);
}

Status tryInChild(const std::string& path, const std::function<Status()>& read, std::chrono::milliseconds patience) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::success();
  const pid_t child = ::fork();
  if (child == 0) readAndTell(ends[1], read, patience);
  ::close(ends[1]);
  const auto told = child > 0 ? listen(ends[0], Clock::now() + patience) : "";
  ::close(ends[0]);
  if (child < 0) return base::success();  // no process to spare: read without the net
  if (!told) ::kill(child, SIGKILL);
  const auto status = statusOf(child);
  if (!told)
    return Error{ErrorKind::input, "cannot be read: HDF5 does not come to an end with it", path, "restore it from a copy, or write it again"};
  if (status && (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0))
    return Error{ErrorKind::input, "is damaged: HDF5 fails on it", path, "restore it from a copy, or write it again"};
  if (told->empty()) return base::success();
  return base::errorFromJson(nlohmann::json::parse(*told));
}

}  // namespace ulpscope::storage
