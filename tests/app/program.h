// Runs the real `ulpscope` as a user's shell would.
#pragma once

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::test {

// A folder of its own for one test, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name = "") const { return (m_path / name).string(); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  std::vector<std::string> names() const;  // of what lies in it, sorted
  bool has(const std::string& name) const { return std::filesystem::exists(m_path / name); }

 private:
  std::filesystem::path m_path;
};

struct Finished {
  int code = -1;  // 128 + signal when it was killed
  std::string out, err;
};

inline constexpr const char* kClosed = "(closed)";

// Runs in `folder` with `variables` added to the environment; ULPSCOPE_ENGINE is unset first. `signal` is sent once
// stderr holds `when`.
struct Call {
  std::vector<std::string> words;
  std::map<std::string, std::string> variables;
  int signal = 0;
  std::string when;
  std::string out;  // empty: caught in Finished::out; kClosed: no standard output at all
  std::string again = {};  // `signal` is sent once more when stderr holds this; empty: it is not
};
Finished ulpscope(const Folder& folder, const Call& call);
Finished ulpscope(const Folder& folder, const std::vector<std::string>& words);

// With the fake engine in the given mode.
Finished withFakeEngine(const Folder& folder, const std::string& mode, Call call);

}  // namespace ulpscope::test
