#include "engine_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

extern char** environ;

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

struct Pipe {
  Descriptor readEnd, writeEnd;
};

Result<Pipe> makePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{ErrorKind::run, std::string("no pipe to the engine: ") + std::strerror(errno), "", ""};
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// SIGINT is ignored while the child is made and so in the child; SIGPIPE, which we ignore, is its default there.
class SpawnSettings {
 public:
  SpawnSettings(int input, int output, int log) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &m_before);
  }
  ~SpawnSettings() {
    ::sigaction(SIGINT, &m_before, nullptr);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

 private:
  struct sigaction m_before {};
};

// What can be read now; false at the end of the stream.
bool drain(int descriptor, protocol::LineReader& reader, std::vector<std::string>& lines) {
  char buffer[65536];
  const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  for (std::string& line : reader.feed({buffer, static_cast<std::size_t>(got)})) lines.push_back(std::move(line));
  return got > 0;
}

std::string endText(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exited with code {}", WEXITSTATUS(status));
}

}  // namespace

void Descriptor::reset() {
  if (m_value >= 0) ::close(m_value);
  m_value = -1;
}

Result<EngineProcess> EngineProcess::start(const std::string& program) {
  auto input = makePipe();
  if (!input) return input.error();
  auto output = makePipe();
  if (!output) return output.error();
  auto log = makePipe();
  if (!log) return log.error();
  const SpawnSettings settings(input->readEnd.get(), output->writeEnd.get(), log->writeEnd.get());
  std::string name = program, command = "worker";
  char* arguments[] = {name.data(), command.data(), nullptr};
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program.c_str(), &settings.actions, &settings.attributes, arguments, environ);
  if (failed != 0)
    return Error{ErrorKind::run, std::string("cannot be started: ") + std::strerror(failed), program, "run `ulpscope doctor`"};
  return EngineProcess(pid, std::move(input.value().writeEnd), std::move(output.value().readEnd), std::move(log.value().readEnd));
}

EngineProcess::EngineProcess(pid_t pid, Descriptor input, Descriptor output, Descriptor log)
    : m_pid(pid), m_input(std::move(input)), m_output(std::move(output)), m_log(std::move(log)) {}

EngineProcess::EngineProcess(EngineProcess&& other) noexcept
    : m_pid(other.m_pid),
      m_input(std::move(other.m_input)),
      m_output(std::move(other.m_output)),
      m_log(std::move(other.m_log)),
      m_lines(std::move(other.m_lines)),
      m_logLines(std::move(other.m_logLines)) {
  other.m_pid = -1;
}

EngineProcess::~EngineProcess() {
  if (running()) {
    kill();
    ::waitpid(m_pid, nullptr, 0);
  }
}

bool EngineProcess::send(std::string_view line) {
  while (!line.empty()) {
    const ssize_t wrote = ::write(m_input.get(), line.data(), line.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    line.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

EngineProcess::Heard EngineProcess::hear(std::chrono::milliseconds timeout) {
  Heard heard;
  pollfd watched[] = {{m_output.get(), POLLIN, 0}, {m_log.get(), POLLIN, 0}};
  if (::poll(watched, 2, static_cast<int>(timeout.count())) <= 0) return heard;
  if (watched[1].revents != 0 && !drain(m_log.get(), m_logLines, heard.log)) m_log.reset();
  if (watched[0].revents != 0) heard.ended = !drain(m_output.get(), m_lines, heard.lines);
  // What it logged before a line that was just read may have come after the poll: an answer or its end is the last that
  // is heard. A pipe holds no more than one drain takes, and at the end all of it is taken.
  bool more = watched[0].revents != 0;
  while (more && ::poll(&watched[1], 1, 0) > 0) more = drain(m_log.get(), m_logLines, heard.log) && heard.ended;
  heard.overflowed = m_lines.overflowed();
  return heard;
}

std::string EngineProcess::finish(std::chrono::milliseconds patience) {
  ULPSCOPE_CHECK(running());  // waitpid(-1) would wait for any child
  m_input.reset();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (::waitpid(m_pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      kill();
      ::waitpid(m_pid, &status, 0);
      m_pid = -1;
      return "did not end and was killed";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  m_pid = -1;
  return endText(status);
}

void EngineProcess::kill() {
  if (running()) ::kill(m_pid, SIGKILL);
}

}  // namespace ulpscope::cli
