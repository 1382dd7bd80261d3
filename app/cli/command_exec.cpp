// The commands that become another program of ours.
#include "commands.h"
#include "core/protocol/find_program.h"
#include "core/protocol/message.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;

// Gives an error or does not return.
Error become(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  return Error{ErrorKind::run, std::string("cannot be started: ") + std::strerror(errno), program, "run `ulpscope doctor`"};
}

bool hasDisplay() {
  for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (const char* value = std::getenv(variable); value && *value) return true;
  return false;
}

Outcome guiAction(const std::vector<std::string>& files) {
  std::error_code ignored;
  for (const std::string& file : files)
    if (!std::filesystem::exists(file, ignored)) return Error{ErrorKind::input, "does not exist", file, "check the path"};
  const auto program = protocol::findWindow();
  if (!program) return program.error();
  if (!hasDisplay())
    return Error{ErrorKind::run, "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)", "ulpscope gui",
                 "open the session on a machine with one: it is the .ulps file and the .ulps.d folder beside it"};
  return become(program.value(), files);
}

Outcome workerAction() {
  const auto program = protocol::findEngine();
  if (!program) return program.error();
  return become(program.value(), {"worker"});
}

}  // namespace

void addGui(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("gui", "Opens the window: on a session, on a model and its inputs, or on its start page.\n\nExamples:\n  ulpscope gui model-fp16.ulps\n  ulpscope gui model.ts inputs.h5\n");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "a session (.ulps); or model, inputs, labels and class names, told apart by their names");
  command->callback([files, &invocation] { invocation.action = [files] { return guiAction(*files); }; });
}

void addWorker(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("worker", "Speaks the engine's protocol on standard input and output, for other programs.\n");
  command->callback([&invocation] { invocation.action = workerAction; });
}

}  // namespace ulpscope::cli
