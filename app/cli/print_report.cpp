#include "print_report.h"

#include "core/protocol/find_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

struct Ended {
  int status = 0;
  std::string said;  // on its stderr
};

std::string readAll(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(descriptor, buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

Result<Ended> run(const std::string& program, std::vector<std::string> words) {
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorKind::run, std::string("no pipe to it: ") + std::strerror(errno), program, ""};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Ended ended;
  if (failed == 0) ended.said = readAll(ends[0]);
  ::close(ends[0]);
  if (failed != 0) return Error{ErrorKind::run, std::string("cannot be started: ") + std::strerror(failed), program, "run `ulpscope doctor`"};
  while (::waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {}
  return ended;
}

// "ulpscope-gui: a.pdf: cannot be written: ..." without the program's name, its first line.
std::string complaint(const std::string& said) {
  constexpr std::string_view kName = "ulpscope-gui: ";
  std::string line = said.substr(0, said.find('\n'));
  return line.starts_with(kName) ? line.substr(kName.size()) : line;
}

}  // namespace

Status printReport(const PrintOrder& order) {
  const auto program = protocol::findWindow();
  if (!program) {
    Error error = program.error();
    error.what += ", so no PDF was written";
    return error;
  }
  std::vector<std::string> words{"--print", order.session, "--out", order.pdf, "--lang", order.language};
  if (!order.runId.empty()) words.insert(words.end(), {"--run", order.runId});
  if (order.isCovered) words.emplace_back("--covered");
  const auto ended = run(program.value(), words);
  if (!ended) return ended.error();
  if (WIFEXITED(ended->status) && WEXITSTATUS(ended->status) == 0) return base::success();
  const ErrorKind kind = WIFEXITED(ended->status) && WEXITSTATUS(ended->status) == base::exitCode(ErrorKind::input) ? ErrorKind::input : ErrorKind::run;
  if (const std::string line = complaint(ended->said); WIFEXITED(ended->status) && !line.empty()) return Error{kind, line, "", ""};
  return Error{ErrorKind::run, WIFSIGNALED(ended->status) ? fmt::format("was ended by signal {} while it printed the PDF", WTERMSIG(ended->status)) : "ended without a PDF and without a word", program.value(), "run it by hand with --print"};
}

}  // namespace ulpscope::cli
