#include "commands.h"
#include "core/base/number_text.h"
#include "core/storage/run_edit.h"
#include "core/storage/session_care.h"
#include "core/storage/session_store.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;

struct RepairWords {
  std::string session, restore;
  bool purge = false;
};

Outcome restoreAction(const RepairWords& words) {
  const auto session = storage::openSession(words.session);
  if (!session) return session.error();
  for (const session::DeletedRun& deleted : session->deleted) {
    const std::string id = deleted.run.id();
    if (id != words.restore && std::to_string(deleted.run.number) != words.restore) continue;
    const auto restored = storage::editRun(words.session, session->id, {storage::RunEdit::Kind::restore, id});
    if (!restored) return restored.error();
    fmt::print("restored {} ({})\n", id, session::runLabel(*restored->run(id)));
    return 0;
  }
  return Error{ErrorKind::usage, "is no deleted run of " + words.session, "--restore " + words.restore, "it has " + base::counted(static_cast<std::int64_t>(session->deleted.size()), "deleted run")};
}

Outcome repairAction(const RepairWords& words) {
  if (!words.restore.empty()) return restoreAction(words);
  auto lines = storage::repairSession(words.session);
  if (!lines) return lines.error();
  if (words.purge) {
    const auto purged = storage::purgeDeleted(words.session);
    if (!purged) return purged.error();
    lines.value().insert(lines.value().end(), purged->begin(), purged->end());
  }
  if (lines->empty()) fmt::print("{}: nothing to {}\n", words.session, words.purge ? "repair or purge" : "repair");
  for (const std::string& line : lines.value()) fmt::print("{}\n", line);
  return 0;
}

constexpr const char* kHelp =
    "Puts a session in order after a crash or a rename, and says what it did. Deletes nothing but parts of interrupted writes.\n\n"
    "Adopts complete runs that the session does not name, sets halves of runs aside, refreshes the links that h5py,\n"
    "silx and H5Web follow, reads the checkpoints of trainings and names those that a crash left. Runs deleted in the window\n"
    "keep their files until --purge removes them for good; they count as tried all the same.\n\n"
    "Examples:\n"
    "  ulpscope repair model-fp16.ulps\n"
    "  ulpscope repair model-fp16.ulps --restore run_0002\n";

}  // namespace

void addRepair(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("repair", kHelp);
  auto words = std::make_shared<RepairWords>();
  command->add_option("SESSION", words->session, "the session (.ulps)")->required();
  auto* restore = command->add_option("--restore", words->restore, "bring this deleted run back: run_0002 or 2")->type_name("RUN");
  command->add_flag("--purge", words->purge, "remove the files of deleted runs for good")->excludes(restore);
  command->callback([words, &invocation] { invocation.action = [words] { return repairAction(*words); }; });
}

}  // namespace ulpscope::cli
