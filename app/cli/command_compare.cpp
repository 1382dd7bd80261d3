#include "commands.h"
#include "core/base/number_text.h"
#include "core/report/run_comparison.h"
#include "core/session/comparable.h"
#include "core/storage/captured_comparison.h"
#include "core/storage/session_store.h"
#include "json_output.h"
#include "session_runs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

struct CompareWords {
  std::vector<std::string> words;  // SESSION [RUN RUN] or SESSION SESSION
  std::string json;
};

struct Side {
  std::string path, run;  // run empty: the latest
};

bool isFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Of one session: the two latest runs over all samples; where a baseline was chosen, that one and the latest other.
Result<std::pair<Side, Side>> latestTwo(const std::string& path) {
  auto session = storage::openSession(path);
  if (!session) return session.error();
  std::vector<std::string> whole;
  bool isRecorded = false;
  for (const session::RunRecord& run : session->runs) {
    isRecorded = isRecorded || run.settings.mode == session::Mode::recorded;
    if (run.settings.onlySamples.empty()) whole.push_back(run.id());
  }
  if (whole.size() < 2)
    return Error{ErrorKind::inconclusive, fmt::format("holds {} over all samples, and comparing takes two", base::counted(static_cast<std::int64_t>(whole.size()), "run")), path,
                 isRecorded ? "add one with record(..., append=True) in Python, or name two sessions" : "add one with `ulpscope run ... --append`, or name two sessions"};
  std::string before = whole[whole.size() - 2], latest = whole.back();
  if (const session::RunRecord* baseline = session->baseline(); baseline && baseline->settings.onlySamples.empty()) {
    if (baseline->id() == latest) latest = before;
    before = baseline->id();
  }
  return std::pair{Side{path, before}, Side{path, latest}};
}

Result<std::pair<Side, Side>> sidesOf(const std::vector<std::string>& words) {
  if (words.size() == 1) return latestTwo(words[0]);
  if (words.size() == 3) return std::pair{Side{words[0], words[1]}, Side{words[0], words[2]}};
  if (words.size() == 2 && isFile(words[1])) return std::pair{Side{words[0], ""}, Side{words[1], ""}};
  return Error{ErrorKind::usage, words.size() == 2 ? "is no session" : "takes SESSION, SESSION RUN RUN or SESSION SESSION", words.size() == 2 ? words[1] : "compare",
               "for instance: ulpscope compare model-fp16.ulps run_0001 run_0002"};
}

Outcome compareAction(const CompareWords& words) {
  const auto sides = sidesOf(words.words);
  if (!sides) return sides.error();
  const auto& [sideA, sideB] = sides.value();
  auto a = storage::openSession(sideA.path);
  if (!a) return a.error();
  auto b = storage::openSession(sideB.path);
  if (!b) return b.error();
  const auto runA = runNamed(a.value(), sideA.run, sideA.path);
  if (!runA) return runA.error();
  const auto runB = runNamed(b.value(), sideB.run, sideB.path);
  if (!runB) return runB.error();
  const report::ComparedRun comparedA{a.value(), *runA.value(), sideA.path}, comparedB{b.value(), *runB.value(), sideB.path};
  const auto differences = session::differences(a.value(), runA.value()->settings, b.value(), runB.value()->settings);
  if (auto comparable = session::checkComparable(differences, sideB.path + ", " + runB.value()->id()); !comparable) return comparable.error();
  if (runA.value()->settings.onlySamples != runB.value()->settings.onlySamples)
    return Error{ErrorKind::run, "one run is over chosen samples only, the other over others", sideB.path + ", " + runB.value()->id(), "compare runs over the same samples"};
  const auto captures = storage::compareCaptures({sideA.path, a.value(), *runA.value()}, {sideB.path, b.value(), *runB.value()});
  if (!captures) return captures.error();
  if (!words.json.empty())
    if (auto written = writeJson(words.json, report::comparisonDocument(comparedA, comparedB, captures.value())); !written) return written.error();
  if (words.json != "-") fmt::print("{}", report::comparisonText(comparedA, comparedB, captures.value()));
  return 0;
}

constexpr const char* kHelp =
    "Holds two candidates of one experiment against each other: what got better, what got worse. Starts no engine.\n\n"
    "Runs of anything but one experiment are refused, with the name of what differs.\n\n"
    "Examples:\n"
    "  ulpscope compare model-fp16.ulps                      its two latest runs, or the baseline and the latest\n"
    "  ulpscope compare model-fp16.ulps run_0001 run_0003\n"
    "  ulpscope compare model-fp16.ulps model-bf16.ulps\n";

}  // namespace

void addCompare(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("compare", kHelp);
  auto words = std::make_shared<CompareWords>();
  command->add_option("SESSION", words->words, "SESSION [RUN RUN], or SESSION SESSION")->required()->expected(1, 3);
  command->add_option("--json", words->json, "write the comparison to F ('-': standard output)")->type_name("F");
  command->callback([words, &invocation] { invocation.action = [words] { return compareAction(*words); }; });
}

}  // namespace ulpscope::cli
