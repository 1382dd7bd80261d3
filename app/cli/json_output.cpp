#include "json_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ulpscope::cli {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Status;

// What goes into a file: the "JSON document" of "--json", which begins with a brace.
struct Text {
  const char* what;
  std::string option;
  char first;
};
const Text kJson{"JSON document", "--json", '{'};

Error cannotWrite(const std::string& target, const Text& text = kJson) {
  return Error{ErrorKind::run, std::string("the ") + text.what + " cannot be written: " + std::strerror(errno), target, "name another file with " + text.option};
}

bool writeAll(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

// A pipe, a terminal or /dev/null takes the text as it is; only a regular file can be replaced.
bool isReplaceable(const std::string& target) {
  std::error_code ignored;
  const auto kind = fs::status(target, ignored).type();
  return kind == fs::file_type::not_found || kind == fs::file_type::regular;
}

bool holdsSomethingElse(const std::string& target, char first = kJson.first) {
  std::error_code ignored;
  std::ifstream file(target, std::ios::binary);
  return fs::is_regular_file(target, ignored) && file && file.peek() != first && file.peek() != EOF;
}

Error wouldOverwrite(const std::string& target, const Text& kind = kJson) {
  return Error{ErrorKind::usage, std::string("exists and is no ") + kind.what + ", it is left as it is", kind.option + " " + target, "name another file"};
}

Status writeFile(const std::string& target, const std::string& text, const Text& kind) {
  if (holdsSomethingElse(target, kind.first)) return wouldOverwrite(target, kind);
  const bool replace = isReplaceable(target);
  // O_EXCL: a file of that name would be somebody's.
  const std::string part = ".ulpscope-" + std::to_string(::getpid()) + ".part";
  const std::string path = replace ? (fs::path(target).parent_path() / part).string() : target;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | (replace ? O_CREAT | O_EXCL : 0), 0666);
  if (descriptor < 0) return cannotWrite(target, kind);
  bool good = writeAll(descriptor, text);
  if (replace) good = ::fsync(descriptor) == 0 && good;
  good = ::close(descriptor) == 0 && good;
  if (good && replace) good = std::rename(path.c_str(), target.c_str()) == 0;
  if (good) return base::success();
  const Error error = cannotWrite(target, kind);
  if (replace) ::unlink(path.c_str());
  return error;
}

struct NamedTarget {
  std::string path;
  std::vector<std::string> otherWords;  // of the command, values of `--option=value` by themselves
};

NamedTarget targetAmong(const std::vector<std::string>& words) {
  NamedTarget found;
  bool optionsEnded = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    optionsEnded = optionsEnded || word == "--";
    const bool ours = !optionsEnded && (word == "--json" || word == "--json=");
    const bool withValue = !optionsEnded && word.rfind("--json=", 0) == 0;
    const auto equals = word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos;
    if (ours && i + 1 < words.size())
      found.path = words[++i];
    else if (withValue && !ours)
      found.path = word.substr(7);
    else if (!ours)
      found.otherWords.push_back(equals == std::string::npos ? word : word.substr(equals + 1));
  }
  return found;
}

bool sameFile(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  if (fs::equivalent(a, b, failed) && !failed) return true;
  const fs::path canonicalA = fs::weakly_canonical(fs::absolute(a), failed);
  if (failed) return false;
  const fs::path canonicalB = fs::weakly_canonical(fs::absolute(b), failed);
  return !failed && canonicalA == canonicalB;
}

// The session file, something in its folder, or either while it is written; they come to be while the command runs, so
// that looking at the files is not enough.
bool isSessions(const fs::path& target) {
  for (fs::path part : fs::absolute(target).lexically_normal()) {
    while (part.extension() == ".part" || part.extension() == ".d") part = part.stem();
    if (part.extension() == ".ulps") return true;
  }
  return false;
}

Status checkTarget(const NamedTarget& target) {
  const std::string which = "--json " + target.path;
  if (target.path.empty() || target.path == "-") return base::success();
  std::error_code ignored;
  if (fs::is_directory(target.path, ignored)) return Error{ErrorKind::usage, "is a folder", which, "name a file, or - for standard output"};
  if (holdsSomethingElse(target.path)) return wouldOverwrite(target.path);
  if (isSessions(target.path)) return Error{ErrorKind::usage, "is a session's own file", which, "name another file"};
  for (const std::string& word : target.otherWords)
    if (!word.empty() && sameFile(target.path, word)) return Error{ErrorKind::usage, "is named elsewhere in the command too", which, "name another file"};
  if (static_cast<void>(fs::symlink_status(target.path, ignored)); ignored == std::errc::filename_too_long)
    return Error{ErrorKind::usage, "is too long for a file's name", which, "name another file"};
  const fs::path folder = fs::absolute(target.path).parent_path();
  if (!fs::is_directory(folder, ignored) || (isReplaceable(target.path) && ::access(folder.c_str(), W_OK) != 0))
    return Error{ErrorKind::usage, "no file can be written in " + folder.string(), which, "name another file"};
  return base::success();
}

}  // namespace

JsonTarget jsonTargetOf(int argc, const char* const* argv) {
  // The command's own name, the first word, is no file.
  const NamedTarget target = targetAmong({argv + std::min(argc, argc > 1 && argv[1][0] != '-' ? 2 : 1), argv + argc});
  return {target.path, checkTarget(target)};
}

namespace {

Status writeAnywhere(const std::string& target, const std::string& text, const Text& kind) {
  if (target.empty()) return base::success();
  if (target != "-") return writeFile(target, text, kind);
  std::fflush(stdout);
  return writeAll(STDOUT_FILENO, text) ? base::success() : Status(cannotWrite("standard output", kind));
}

}  // namespace

Status writeJson(const std::string& target, const nlohmann::json& document) {
  return writeAnywhere(target, document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", kJson);
}

Status writeJUnit(const std::string& target, const std::string& xml) { return writeAnywhere(target, xml, {"JUnit report", "--junit", '<'}); }

}  // namespace ulpscope::cli
