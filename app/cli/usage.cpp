#include "usage.h"

#include "core/base/nearest_names.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;

// Of the whole contract, what this version does not have: said so, instead of a far-fetched suggestion.
const std::vector<std::string> kLaterCommands{"search"};

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
  if (contains(kLaterCommands, word)) return Error{ErrorKind::usage, "is not a command of this version", word,
                                                   "use " + base::quotedChoice(commandNames(app))};
  return Error{ErrorKind::usage, "there is no such command", word, "did you mean " + base::quotedChoice(base::nearestNames(word, commandNames(app), 2)) + "?"};
}

Error unknownOption(const CLI::App& command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  const std::string which = command.get_name() + " " + option;
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

bool isList(const CLI::Option& option) { return option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll; }

// The parser's "At Most 1 required but received 2" and "1 required F missing" in the user's words.
Error wrongCount(const CLI::App& command, const CLI::ParseError& fault) {
  for (const CLI::Option* option : command.get_options())
    if (!isList(*option) && option->count() > 1 && option->get_expected_max() == 1)
      return Error{ErrorKind::usage, option->count() == 2 ? "given twice" : "given " + std::to_string(option->count()) + " times",
                   option->get_name(), "give it once"};
  const std::string complaint = fault.what();
  const auto colon = complaint.find(": ");
  const bool missing = colon != std::string::npos && complaint.ends_with(" missing");
  return Error{ErrorKind::usage, missing ? "needs a value" : complaint, missing ? complaint.substr(0, colon) : command.get_name(),
               "see `ulpscope " + command.get_name() + " --help`"};
}

// Every value is taken as text, so that only a flag can refuse one: "Could not convert: --append = maybe".
Error valueOfFlag(const CLI::App& command, const std::string& complaint) {
  const auto start = complaint.find("--");
  const std::string flag = start == std::string::npos ? command.get_name() : complaint.substr(start, complaint.find_first_of(" :", start) - start);
  return Error{ErrorKind::usage, "takes no value", flag, "give it alone, or leave it out"};
}

// What 1, 4, 5 and 130 mean; empty: the command never gives it.
struct CodeMeanings {
  const char *finding, *failed, *inconclusive, *cancelled;
};

CodeMeanings meaningsOf(const std::string& command) {
  static const std::map<std::string, CodeMeanings> all{
      {"", {"a finding or a criterion that failed", "the work failed", "inconclusive", "cancelled"}},
      {"run", {"a --fail-on finding, or a criterion failed", "the run failed, or FP32 is no baseline", "inconclusive (partial, nothing autocast, or not evaluated)", "cancelled"}},
      {"train", {"a criterion failed, or a rollback rule held", "the model could not run, or FP32 itself is not finite", "nothing was autocast, or a criterion was not evaluated", "cancelled (the steps done are stored)"}},
      {"scan", {"", "a run failed, or the model or inputs are not the session's", "nothing was autocast, or the session has no run", "cancelled (nothing is stored)"}},
      {"bench", {"a criterion failed", "a forward failed", "no verdict, or none again after the timing", "cancelled"}},
      {"check", {"a criterion failed", "FP32 is no baseline", "no criteria, or one was not evaluated", ""}},
      {"inspect", {"", "the engine failed", "", "cancelled"}},
      {"demo", {"", "the run failed", "inconclusive", "cancelled"}},
      {"compare", {"", "the runs cannot be compared", "there are no two runs", ""}},
      {"report", {"", "the disk failed, or the PDF could not be printed", "the session holds nothing to report", ""}},
      {"doctor", {"", "something is at fault", "", ""}},
      {"gui", {"", "there is no display", "", ""}},
      {"worker", {"", "there is no engine", "", ""}}};
  const auto found = all.find(command);
  return found == all.end() ? CodeMeanings{"", "the disk failed", "", ""} : found->second;
}

}  // namespace

std::string exitCodesText(const std::string& command) {
  const CodeMeanings meanings = meaningsOf(command);
  std::string text = "Exit codes: 0 done";
  const auto add = [&text](const char* code, const std::string& meaning) {
    if (meaning.empty()) return;
    const std::string part = std::string(code) + " " + meaning;
    const std::size_t line = text.rfind('\n') == std::string::npos ? text.size() : text.size() - text.rfind('\n');
    text += (line + part.size() > 115 ? ",\n" : ", ") + part;
  };
  add("1", meanings.finding);
  add("2", "usage");
  add("3", "input unreadable or not supported");
  add("4", meanings.failed);
  add("5", meanings.inconclusive);
  add("130", meanings.cancelled);
  return text + ".\nData goes to standard output, messages and progress to standard error.";
}

base::Status checkCommandNames(CLI::App& app) {
  if (app.get_subcommands().empty() && app.remaining_size() > 0) return unknownWord(app);
  return base::success();
}

base::Status checkEmptyValues(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options())
      if (!isList(*option) && contains(option->results(), ""))
        return Error{ErrorKind::usage, "got an empty value", command->get_name() + " " + option->get_name(), "give one, or leave it out"};
  return base::success();
}

Error usageError(CLI::App& app, const CLI::ParseError& fault) {
  if (dynamic_cast<const CLI::ExtrasError*>(&fault)) return unknownWord(app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&fault) && !app.get_subcommands().empty()) return wrongCount(*app.get_subcommands().front(), fault);
  if (dynamic_cast<const CLI::ConversionError*>(&fault) && !app.get_subcommands().empty()) return valueOfFlag(*app.get_subcommands().front(), fault.what());
  const auto called = app.get_subcommands();
  const std::string command = called.empty() ? "" : called.front()->get_name();
  return Error{ErrorKind::usage, fault.what(), command, "see `ulpscope " + command + (command.empty() ? "" : " ") + "--help`"};
}

}  // namespace ulpscope::cli
