#include "commands.h"
#include "core/report/run_document.h"
#include "core/report/training_verdict_text.h"
#include "core/report/verdict_text.h"
#include "core/session/criteria.h"
#include "core/storage/run_verdict.h"
#include "core/storage/training_judged.h"
#include "json_output.h"
#include "session_runs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

struct CheckWords {
  std::string session, criteria, run, json, junit;
};

// Without --criteria by those that are locked now.
Result<session::Verdict> verdictFor(const CheckWords& words, const session::Session& session, const session::RunRecord& run) {
  if (words.criteria.empty() && session.exploratory())
    return Error{ErrorKind::inconclusive, "no criteria are locked in it: it is exploratory", words.session, "check it with --criteria F (`ulpscope criteria new` writes a file to fill in)"};
  auto locked = storage::standingVerdict(words.session, session, run);
  if (!locked) return locked.error();
  if (words.criteria.empty()) return *locked.value();
  const auto criteria = session::readCriteria(words.criteria);
  if (!criteria) return criteria.error();
  if (!locked.value()) return storage::verdictOf(words.session, session, run, criteria.value());
  if (criteria->sha256 != locked.value()->sha256)
    return Error{ErrorKind::usage, "differs from locked revision " + std::to_string(session.criteria.back().number), "--criteria " + words.criteria, "use `ulpscope criteria revise`, or leave --criteria out"};
  return *locked.value();
}

Outcome checkTraining(const CheckWords& words, const session::Session& session) {
  if (!words.criteria.empty()) return Error{ErrorKind::usage, "are criteria for a run, and " + words.session + " holds only trainings", "--criteria " + words.criteria, "leave it out"};
  const auto judged = storage::judgedTraining(words.session, session, session.trainings.back().number);
  if (!judged) return judged.error();
  const auto& [training, locked] = judged.value();
  const session::Verdict& verdict = *training.verdict;
  if (!words.json.empty())
    if (auto written = writeJson(words.json, report::trainingDocument(training, locked, words.session)); !written) return written.error();
  if (!words.junit.empty())
    if (auto written = writeJUnit(words.junit, report::verdictJUnit(fmt::format("{}.training_{:04}", session.title, training.number), "training", verdict)); !written) return written.error();
  if (words.json != "-" && words.junit != "-")
    fmt::print("{} training {} ({})\n{}", words.session, training.number, session.trainings.back().title, report::trainingVerdictText(training, locked));
  if (verdict.status == session::JudgedAs::notEvaluated) return base::exitCode(ErrorKind::inconclusive);
  return verdict.status == session::JudgedAs::fail ? 1 : 0;
}

Outcome checkAction(const CheckWords& words) {
  if (words.json == "-" && words.junit == "-") return Error{ErrorKind::usage, "cannot both go to standard output", "--json - --junit -", "name a file for one of them"};
  auto session = storage::openSession(words.session);
  if (!session) return session.error();
  if (!session->hasResults() && !session->trainings.empty() && words.run.empty()) return checkTraining(words, session.value());
  auto run = runNamed(session.value(), words.run, words.session);
  if (!run) return run.error();
  auto verdict = verdictFor(words, session.value(), *run.value());
  if (!verdict) return verdict.error();
  session::RunRecord judged = *run.value();
  judged.verdict = verdict.value();
  if (!words.json.empty())
    if (auto written = writeJson(words.json, report::runDocument(session.value(), judged, words.session)); !written) return written.error();
  if (!words.junit.empty())
    if (auto written = writeJUnit(words.junit, report::verdictJUnit(session.value(), judged, verdict.value())); !written) return written.error();
  if (words.json != "-" && words.junit != "-")
    fmt::print("{} {} ({})\n{}", words.session, judged.id(), session::runLabel(judged), report::verdictText(session.value(), verdict.value()));
  return exitCodeOfVerdict(judged);
}

constexpr const char* kHelp =
    "Holds a run against criteria and gives the verdict. Starts no engine.\n\n"
    "In a session that holds only trainings: the latest training, against the criteria that its recipes locked.\n\n"
    "The criteria are those locked in the session; --criteria F judges an exploratory session, and says that F was not locked.\n\n"
    "Examples:\n"
    "  ulpscope check model-fp16.ulps\n"
    "  ulpscope check model-fp16.ulps --criteria release.json --junit verdict.xml\n";

}  // namespace

void addCheck(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("check", kHelp);
  auto words = std::make_shared<CheckWords>();
  command->add_option("SESSION", words->session, "the session (.ulps)")->required();
  command->add_option("--criteria", words->criteria, "criteria, where none are locked")->type_name("F");
  command->add_option("--run", words->run, "run to judge: run_0002 or 2 (default: the latest over all samples)")->type_name("RUN");
  command->add_option("--json", words->json, "write the run document with its verdict to F ('-': standard output)")->type_name("F");
  command->add_option("--junit", words->junit, "write the verdict as JUnit XML to F ('-': standard output)")->type_name("F");
  command->callback([words, &invocation] { invocation.action = [words] { return checkAction(*words); }; });
}

}  // namespace ulpscope::cli
