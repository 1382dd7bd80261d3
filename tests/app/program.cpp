#include "program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace ulpscope::test {
namespace {

namespace fs = std::filesystem;

std::string textOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// After fork: never returns.
[[noreturn]] void become(const Folder& folder, const Call& call, const std::string& out, const std::string& err) {
  if (::chdir(folder.path().c_str()) != 0) ::_exit(126);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
  if (out == kClosed)  // after the others were opened, or one of them would take its place
    ::close(STDOUT_FILENO);
  else
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
  ::unsetenv("ULPSCOPE_ENGINE");
  for (const auto& [name, value] : call.variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> words{ULPSCOPE_TEST_BUILD "/bin/ulpscope"};
  words.insert(words.end(), call.words.begin(), call.words.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

void waitFor(const std::string& text, const std::string& err) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (textOf(err).find(text) == std::string::npos && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void signalWhenSeen(pid_t pid, const Call& call, const std::string& err) {
  waitFor(call.when, err);
  ::kill(pid, call.signal);
  if (call.again.empty()) return;
  waitFor(call.again, err);
  ::kill(pid, call.signal);
}

}  // namespace

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "ulpscope-test-XXXXXX").string();
  m_path = fs::canonical(::mkdtemp(pattern.data()));
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(m_path, ignored);
}

void Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(m_path / name, std::ios::binary) << text;
}

std::string Folder::read(const std::string& name) const { return textOf(m_path / name); }

std::vector<std::string> Folder::names() const {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(m_path)) all.push_back(entry.path().filename().string());
  std::sort(all.begin(), all.end());
  return all;
}

Finished ulpscope(const Folder& folder, const Call& call) {
  const Folder streams;
  const std::string out = call.out.empty() ? streams.path("out") : call.out, err = streams.path("err");
  const pid_t pid = ::fork();
  if (pid == 0) become(folder, call, out, err);
  if (call.signal != 0) signalWhenSeen(pid, call, err);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), call.out.empty() ? textOf(out) : "", textOf(err)};
}

Finished ulpscope(const Folder& folder, const std::vector<std::string>& words) { return ulpscope(folder, Call{words, {}, 0, "", ""}); }

Finished withFakeEngine(const Folder& folder, const std::string& mode, Call call) {
  call.variables["ULPSCOPE_ENGINE"] = ULPSCOPE_TEST_DATA "/fake_engine.py";
  call.variables["FAKE_ENGINE"] = mode;
  return ulpscope(folder, call);
}

}  // namespace ulpscope::test
