#include "usage.h"

#include "core/base/nearest_names.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;

// Of the whole contract, what this version does not have: said so, instead of a far-fetched suggestion.
const std::vector<std::string> kLaterCommands{"check", "compare", "criteria", "scan", "train", "search", "bench", "report", "pack", "unpack", "repair"};
const std::vector<std::string> kLaterOptions{"--criteria", "--observe", "--capture", "--capture-budget", "--only-samples", "--junit"};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> commandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> optionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Error unknownCommand(const CLI::App& app, const std::string& word) {
  if (contains(kLaterCommands, word)) return Error{ErrorKind::usage, "is not a command of this version", word, "`ulpscope --help` lists those it has"};
  return Error{ErrorKind::usage, "there is no such command", word, "did you mean " + base::quotedChoice(base::nearestNames(word, commandNames(app), 2)) + "?"};
}

Error unknownOption(const CLI::App& command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  const std::string which = command.get_name() + " " + option;
  if (contains(kLaterOptions, option))
    return Error{ErrorKind::usage, "is not an option of this version", which, "`ulpscope " + command.get_name() + " --help` lists those it has"};
  return Error{ErrorKind::usage, "there is no such option", which,
               "did you mean " + base::quotedChoice(base::nearestNames(option, optionNames(command), 2)) + "?"};
}

// CLI11 leaves "--" and the values of unknown options among the rest: the first option tells more than a value.
Error unknownWord(CLI::App& app) {
  const auto called = app.get_subcommands();
  CLI::App& command = called.empty() ? app : *called.front();
  const std::vector<std::string> rest = command.remaining(true);
  const auto option = std::find_if(rest.begin(), rest.end(), [](const auto& word) { return word.size() > 1 && word[0] == '-' && word != "--"; });
  if (option != rest.end()) return unknownOption(command, *option);
  const std::string word = rest.empty() ? "" : rest.front();
  if (called.empty()) return unknownCommand(app, word);
  return Error{ErrorKind::usage, "is one word too many", command.get_name() + " " + word, "see `ulpscope " + command.get_name() + " --help`"};
}

}  // namespace

Error usageError(CLI::App& app, const CLI::ParseError& fault) {
  if (dynamic_cast<const CLI::ExtrasError*>(&fault)) return unknownWord(app);
  const auto called = app.get_subcommands();
  const std::string command = called.empty() ? "" : called.front()->get_name();
  return Error{ErrorKind::usage, fault.what(), command, "see `ulpscope " + command + (command.empty() ? "" : " ") + "--help`"};
}

}  // namespace ulpscope::cli
