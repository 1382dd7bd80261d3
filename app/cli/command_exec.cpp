// The commands that become another program of ours.
#include "commands.h"
#include "core/protocol/message.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;

// Gives an error or does not return.
Error become(const std::string& program, std::string argument) {
  std::string name = program;
  char* words[] = {name.data(), argument.empty() ? nullptr : argument.data(), nullptr};
  ::execv(program.c_str(), words);
  return Error{ErrorKind::run, std::string("cannot be started: ") + std::strerror(errno), program, "run `ulpscope doctor`"};
}

bool hasDisplay() {
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (const char* value = std::getenv(variable); value && *value) return true;
  return false;
}

Outcome guiAction(const std::string& file) {
  std::error_code ignored;
  if (!file.empty() && !std::filesystem::exists(file, ignored))
    return Error{ErrorKind::input, "does not exist", file, "check the path"};
  const std::string program = (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "ulpscope-gui").string();
  if (::access(program.c_str(), X_OK) != 0)
    return Error{ErrorKind::input, "the window is not installed beside ulpscope", program, "install it, or build with -DULPSCOPE_GUI=ON"};
  if (!hasDisplay())
    return Error{ErrorKind::run, "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)", "ulpscope gui",
                 "open the session on a machine with one: it is the .ulps file and the .ulps.d folder beside it"};
  return become(program, file);
}

Outcome workerAction() {
  const auto program = protocol::findEngine();
  if (!program) return program.error();
  return become(program.value(), "worker");
}

}  // namespace

void addGui(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("gui", "Opens the window, with a session if one is named.\n\nExamples:\n  ulpscope gui model-fp16.ulps\n");
  auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "session (.ulps)");
  command->callback([file, &invocation] { invocation.action = [file] { return guiAction(*file); }; });
}

void addWorker(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("worker", "Speaks the engine's protocol on standard input and output, for other programs.\n");
  command->callback([&invocation] { invocation.action = workerAction; });
}

}  // namespace ulpscope::cli
