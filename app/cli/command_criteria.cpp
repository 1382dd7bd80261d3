#include "commands.h"
#include "core/report/verdict_text.h"
#include "core/session/criteria.h"
#include "core/storage/run_verdict.h"
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

struct CriteriaWords {
  std::vector<std::string> words;  // new | show SESSION | revise SESSION F
  std::string forWhat, output, reason;
};

Error usage(const std::string& which, const std::string& what, const std::string& remedy) { return Error{ErrorKind::usage, what, which, remedy}; }

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// The outputs and the decision of a session's latest run; of a model that has not run, "*".
base::Result<nlohmann::json> templateFor(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".ulps") {
    if (!exists(path)) return Error{ErrorKind::input, "does not exist", path, "name a model or a session"};
    return session::criteriaTemplate({"*"}, session::parseDecisionRule("argmax").value());
  }
  auto session = storage::openSession(path);
  if (!session) return session.error();
  std::vector<std::string> outputs;
  session::DecisionRule decision;
  if (const session::RunRecord* latest = session->latest()) {
    for (const session::OutputSummary& output : latest->outputs) outputs.push_back(output.name);
    decision = latest->settings.decision;
  }
  if (outputs.empty()) outputs.emplace_back("*");
  return session::criteriaTemplate(outputs, decision);
}

Outcome makeNew(const CriteriaWords& words) {
  if (words.words.size() > 1) return usage("criteria new " + words.words[1], "is one word too many", "say what they are for with --for, and where they go with -o");
  if (words.forWhat.empty()) return usage("criteria new", "criteria for what? --for is missing", "for instance: ulpscope criteria new --for model.ts -o criteria.json");
  const std::string target = words.output.empty() ? "-" : words.output;
  if (target != "-" && exists(target)) return usage("-o " + target, "exists, it is left as it is", "name another file");
  const auto document = templateFor(words.forWhat);
  if (!document) return document.error();
  if (auto written = writeJson(target, document.value()); !written) return written.error();
  if (target != "-") fmt::print("{}: write your limits in place of each null, or take the line out; then: ulpscope run ... --criteria {}\n", target, target);
  return 0;
}

Outcome show(const CriteriaWords& words) {
  if (words.words.size() != 2) return usage("criteria show", "takes one session", "for instance: ulpscope criteria show model-fp16.ulps");
  auto session = storage::openSession(words.words[1]);
  if (!session) return session.error();
  for (const session::CriteriaRevision& revision : session->criteria)
    if (auto untouched = session::checkUntouched(revision); !untouched) return untouched.error().within(words.words[1]);
  fmt::print("{}", report::criteriaText(session.value()));
  return 0;
}

Outcome revise(const CriteriaWords& words) {
  if (words.words.size() != 3) return usage("criteria revise", "takes a session and a file", "for instance: ulpscope criteria revise model-fp16.ulps criteria.json --reason \"...\"");
  const std::string& path = words.words[1];
  const auto criteria = session::readCriteria(words.words[2]);
  if (!criteria) return criteria.error();
  auto session = storage::openSession(path);
  if (!session) return session.error();
  if (session->exploratory() && session->hasResults())
    return usage(path, "the session is exploratory, and criteria after its results are no validation", "run the experiment again with --criteria and --explored, into a new session");
  if (!session->exploratory() && session->criteria.back().sha256 == criteria->sha256) return usage(words.words[2], fmt::format("is locked revision {} already", session->criteria.back().number), "change a limit first");
  auto revised = storage::lockCriteria(path, criteria.value(), words.reason);
  if (!revised) return revised.error();
  const session::CriteriaRevision& revision = revised->criteria.back();
  fmt::print("{}: revision {} locked, SHA-256 {:.12}{}\n", path, revision.number, revision.sha256,
             revision.afterResults ? "; results had been seen, which every verdict says from now on" : "");
  return 0;
}

Outcome criteriaAction(const CriteriaWords& words) {
  const std::string& what = words.words.front();
  if (what == "new") return makeNew(words);
  if (what == "show") return show(words);
  if (what == "revise") return revise(words);
  return usage("criteria " + what, "there is no such word", "use new, show or revise");
}

constexpr const char* kHelp =
    "Acceptance criteria: a file to fill in, what a session has locked, a revision.\n\n"
    "  criteria new --for MODEL|SESSION -o F   a file with every limit left open; none is proposed\n"
    "  criteria show SESSION                   the locked revisions\n"
    "  criteria revise SESSION F               another revision; every verdict says when results had been seen\n\n"
    "`ulpscope run --criteria F` locks them before the first op runs. A lock is never undone.\n\n"
    "Example:\n"
    "  ulpscope criteria new --for model.ts -o criteria.json\n";

}  // namespace

void addCriteria(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("criteria", kHelp);
  auto words = std::make_shared<CriteriaWords>();
  command->add_option("WORD", words->words, "new, show SESSION, or revise SESSION F")->required()->expected(1, 3);
  command->add_option("--for", words->forWhat, "what the criteria are for: a model or a session")->type_name("MODEL|SESSION");
  command->add_option("-o,--output", words->output, "where the new file goes (default: standard output)")->type_name("F");
  command->add_option("--reason", words->reason, "why the criteria are revised")->type_name("TEXT");
  command->callback([words, &invocation] { invocation.action = [words] { return criteriaAction(*words); }; });
}

}  // namespace ulpscope::cli
