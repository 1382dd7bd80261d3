#include "commands.h"
#include "core/storage/session_care.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ulpscope::cli {
namespace {

Outcome repairAction(const std::string& session) {
  const auto lines = storage::repairSession(session);
  if (!lines) return lines.error();
  if (lines->empty()) fmt::print("{}: nothing to repair\n", session);
  for (const std::string& line : lines.value()) fmt::print("{}\n", line);
  return 0;
}

constexpr const char* kHelp =
    "Puts a session in order after a crash or a rename, and says what it did. Deletes nothing but parts of interrupted writes.\n\n"
    "Adopts complete runs that the session does not name, sets halves of runs aside, refreshes the links that h5py,\n"
    "silx and H5Web follow.\n\n"
    "Example:\n"
    "  ulpscope repair model-fp16.ulps\n";

}  // namespace

void addRepair(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("repair", kHelp);
  auto session = std::make_shared<std::string>();
  command->add_option("SESSION", *session, "the session (.ulps)")->required();
  command->callback([session, &invocation] { invocation.action = [session] { return repairAction(*session); }; });
}

}  // namespace ulpscope::cli
