#include "run_command_line.h"

#include "core/session/command_line.h"

#include <filesystem>

namespace ulpscope::cli {

std::string shownPath(const std::string& path) {
  const std::filesystem::path relative = std::filesystem::path(path).lexically_proximate(std::filesystem::current_path());
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

std::string appendCommand(session::RunRequest request, const std::string& onlySamplesWord) {
  for (std::string* path : {&request.modelPath, &request.inputsPath, &request.labelsPath, &request.classNamesPath, &request.sessionPath})
    if (!path->empty()) *path = shownPath(*path);
  return session::runCommand(request, onlySamplesWord) + " --append";
}

}  // namespace ulpscope::cli
