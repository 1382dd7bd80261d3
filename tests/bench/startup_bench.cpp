// What starting the command line costs: `ulpscope --version`, 31 fresh processes.
#include "tests/bench/bench_support.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace ulpscope::bench;

constexpr int kStarts = 31;
constexpr double kBarMs = 50;

bool start() {
  std::string program = ULPSCOPE_BENCH_CLI, option = "--version";
  char* arguments[] = {program.data(), option.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = 1;
  const bool started = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  return started && ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main() {
  std::vector<double> milliseconds;
  for (int i = -1; i < kStarts; ++i) {
    bool started = false;
    const Cost cost = costOf([&] { started = start(); });
    if (!started) return fmt::print(stderr, "{}: cannot be started\n", ULPSCOPE_BENCH_CLI), 1;
    if (i >= 0) milliseconds.push_back(1e3 * cost.wallSeconds);
  }
  printValues("startup", "ulpscope --version", "ms", milliseconds, kBarMs);
  return 0;
}
