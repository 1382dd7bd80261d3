#include "commands.h"
#include "core/protocol/message.h"
#include "core/report/run_document.h"
#include "core/session/demo.h"
#include "run_command_line.h"
#include "run_job.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

namespace ulpscope::cli {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;

struct DemoWords {
  std::string name = "overflow", out;
  bool list = false;
};

// The XDG base directory specification: a relative XDG_CACHE_HOME is to be ignored.
Result<std::string> cacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return std::string(cache) + "/ulpscope/demos";
  const char* home = std::getenv("HOME");
  if (home && home[0] == '/') return std::string(home) + "/.cache/ulpscope/demos";
  return Error{ErrorKind::usage, "no folder for the demo's session: neither XDG_CACHE_HOME nor HOME is set", "demo", "name one with --out DIR"};
}

Result<std::string> outFolder(const std::string& chosen) {
  if (chosen == "-") return Error{ErrorKind::usage, "a session cannot go to standard output", "--out -", "name a folder"};
  auto folder = chosen.empty() ? cacheFolder() : Result<std::string>(fs::absolute(chosen).lexically_normal().string());
  if (!folder) return folder.error();
  std::error_code failed;
  fs::create_directories(folder.value(), failed);
  if (failed) return Error{ErrorKind::usage, "the folder cannot be made: " + failed.message(), folder.value(), "name another with --out DIR"};
  return folder;
}

// Words of `text` in lines of at most 90 columns, each after `indent` blanks.
std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t kColumns = 90;
  std::istringstream words(text);
  std::string all, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) {
      all += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + std::string(indent, ' ') + line + "\n";
}

// "NaN in 3 of 64 messages; like owner/repository#12"; empty where the demo says neither.
std::string finding(const session::Demo& demo) {
  const std::string like = demo.like.empty() ? "" : "like " + demo.like;
  return demo.shows + (demo.shows.empty() || like.empty() ? "" : "; ") + like;
}

Outcome listAction(const std::string& data) {
  const auto demos = session::listDemos(data);
  if (!demos) return demos.error();
  for (const session::Demo& demo : demos.value()) {
    const std::string shown = finding(demo);
    fmt::print("{:<10} {}\n{}{}", demo.name, demo.title, shown.empty() ? "" : wrapped(shown, 11), wrapped(demo.description, 11));
  }
  return 0;
}

std::string cureText(const session::Demo& demo) {
  if (demo.cure.empty()) return "";
  session::RunRequest cured = demo.request;
  cured.settings.fp32 = demo.cure;
  return "The cure: " + appendCommand(cured) + "\n";
}

Outcome demoAction(const DemoWords& words) {
  const auto data = protocol::findData("demo");
  if (!data) return data.error();
  if (words.list) return listAction(data.value());
  auto demo = session::findDemo(data.value(), words.name);
  if (!demo) return demo.error();
  const auto folder = outFolder(words.out);
  if (!folder) return folder.error();
  session::RunRequest& request = demo.value().request;
  request.sessionPath = session::freeSessionPath(folder.value(), demo->name);
  request.settings.verifyProbe = true;
  const auto finished = performRun(request);
  if (!finished) return finished.error();
  fmt::print("Demo {}: {}\n{}\n", demo->name, demo->title, wrapped(demo->description, 0));
  if (!demo->like.empty()) fmt::print("Like the report {} on GitHub.\n\n", demo->like);
  std::fputs(report::runSummary(finished->session, finished->run(), finished->sessionPath).c_str(), stdout);
  std::fputs(cureText(demo.value()).c_str(), stdout);
  return exitCodeOf(finished->run());
}

constexpr const char* kHelp =
    "Runs a built-in experiment for real: a small model, FP32 against autocast.\n\n"
    "Examples:\n"
    "  ulpscope demo\n"
    "  ulpscope demo digits --out .\n"
    "  ulpscope demo --list\n";

}  // namespace

void addDemo(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("demo", kHelp);
  auto words = std::make_shared<DemoWords>();
  command->add_option("NAME", words->name, "which demo (default overflow)");
  command->add_flag("--list", words->list, "list the demos");
  command->add_option("--out", words->out, "folder for its session (default ~/.cache/ulpscope/demos)")->type_name("DIR");
  command->callback([words, &invocation] { invocation.action = [words] { return demoAction(*words); }; });
}

}  // namespace ulpscope::cli
