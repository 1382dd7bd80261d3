#include "core/protocol/find_program.h"
#include "core/protocol/message.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace ulpscope::protocol {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;

fs::path programFolder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

bool isProgram(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

std::string joined(const std::vector<fs::path>& places) {
  std::string text;
  for (const fs::path& place : places) text += (text.empty() ? "" : ", ") + place.string();
  return text;
}

// The source tree's data serve programs of the build tree only: a copy installed elsewhere must not depend on it.
std::vector<fs::path> dataFolders() {
  const fs::path prefix = programFolder().parent_path();
  std::vector<fs::path> folders;
  std::error_code ignored;
  if (fs::exists(prefix / "CMakeCache.txt", ignored)) folders.emplace_back(ULPSCOPE_SOURCE_DATA);
  folders.push_back(prefix / "share" / "ulpscope");
  return folders;
}

}  // namespace

Result<std::string> findEngine() {
  if (const std::string chosen = environment("ULPSCOPE_ENGINE"); !chosen.empty()) {
    if (isProgram(chosen)) return chosen;
    return Error{ErrorKind::run, "$ULPSCOPE_ENGINE names no program that can be run", chosen, "correct or unset it"};
  }
  const fs::path folder = programFolder();
  const std::vector<fs::path> places{folder / "ulpscope-engine",
                                     folder.parent_path() / "libexec" / "ulpscope" / "ulpscope-engine"};
  for (const fs::path& place : places)
    if (isProgram(place)) return place.string();
  return Error{ErrorKind::run, "was not found, looked at " + joined(places), "ulpscope-engine",
               "build or install it, or set ULPSCOPE_ENGINE to its path"};
}

Result<std::string> findWindow() {
  if (const std::string chosen = environment("ULPSCOPE_WINDOW"); !chosen.empty()) {
    if (isProgram(chosen)) return chosen;
    return Error{ErrorKind::input, "$ULPSCOPE_WINDOW names no program that can be run", chosen, "correct or unset it"};
  }
  const fs::path program = programFolder() / "ulpscope-gui";
  if (isProgram(program)) return program.string();
  return Error{ErrorKind::input, "the window is not installed beside ulpscope", program.string(), "install it, or build with -DULPSCOPE_GUI=ON"};
}

Result<std::string> findData(const std::string& relativePath) {
  std::error_code ignored;
  if (const std::string chosen = environment("ULPSCOPE_DATA"); !chosen.empty()) {
    if (const fs::path path = fs::path(chosen) / relativePath; fs::exists(path, ignored)) return path.string();
    return Error{ErrorKind::input, "is not in $ULPSCOPE_DATA (" + chosen + ")", relativePath, "correct or unset it"};
  }
  const std::vector<fs::path> folders = dataFolders();
  for (const fs::path& folder : folders)
    if (const fs::path path = folder / relativePath; fs::exists(path, ignored)) return path.string();
  return Error{ErrorKind::input, "was not found, looked in " + joined(folders), relativePath,
               "reinstall Ulpscope, or set ULPSCOPE_DATA to the folder that holds it"};
}

}  // namespace ulpscope::protocol
