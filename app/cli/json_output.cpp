#include "json_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace ulpscope::cli {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Status;

Error cannotWrite(const std::string& target) {
  return Error{ErrorKind::run, std::string("the JSON document cannot be written: ") + std::strerror(errno), target,
               "name another file with --json"};
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

bool holdsSomethingElse(const std::string& target) {
  std::error_code ignored;
  std::ifstream file(target, std::ios::binary);
  return fs::is_regular_file(target, ignored) && file && file.peek() != '{' && file.peek() != EOF;
}

Error wouldOverwrite(const std::string& target) {
  return Error{ErrorKind::usage, "exists and is no JSON document, it is left as it is", "--json " + target, "name another file"};
}

Status writeFile(const std::string& target, const std::string& text) {
  if (holdsSomethingElse(target)) return wouldOverwrite(target);
  const bool replace = isReplaceable(target);
  const std::string path = replace ? target + ".part" : target;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | (replace ? O_CREAT | O_TRUNC : 0), 0666);
  if (descriptor < 0) return cannotWrite(target);
  bool good = writeAll(descriptor, text);
  if (replace) good = ::fsync(descriptor) == 0 && good;
  good = ::close(descriptor) == 0 && good;
  if (good && replace) good = std::rename(path.c_str(), target.c_str()) == 0;
  if (good) return base::success();
  const Error error = cannotWrite(target);
  if (replace) ::unlink(path.c_str());
  return error;
}

}  // namespace

Status checkJsonTarget(const std::string& target) {
  if (target.empty() || target == "-") return base::success();
  if (holdsSomethingElse(target)) return wouldOverwrite(target);
  const fs::path folder = fs::absolute(target).parent_path();
  std::error_code ignored;
  if (fs::is_directory(target, ignored))
    return Error{ErrorKind::usage, "is a folder", "--json " + target, "name a file, or - for standard output"};
  if (!fs::is_directory(folder, ignored) || (isReplaceable(target) && ::access(folder.c_str(), W_OK) != 0))
    return Error{ErrorKind::usage, "no file can be written in " + folder.string(), "--json " + target, "name another file"};
  return base::success();
}

Status writeJson(const std::string& target, const nlohmann::json& document) {
  if (target.empty()) return base::success();
  const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (target != "-") return writeFile(target, text);
  std::fflush(stdout);
  if (!writeAll(STDOUT_FILENO, text)) return cannotWrite("standard output");
  return base::success();
}

std::string jsonTargetOf(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    if (word.rfind("--json=", 0) == 0) return word.substr(7);
    if (word == "--json" && i + 1 < argc) return argv[i + 1];
  }
  return "";
}

}  // namespace ulpscope::cli
