#include "commands.h"
#include "core/report/report_files.h"
#include "core/storage/session_store.h"
#include "print_report.h"
#include "session_runs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace ulpscope::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using report::Format;

struct ReportWords {
  std::string session, out, run;
  std::string formats = "html,json,csv,junit", language = "en";
  bool isCovered = false;
};

// Empty: a session that holds no run, but criteria or trainings.
Result<std::string> runIdOf(const session::Session& session, const ReportWords& words) {
  const bool tellsWithout = !session.trainings.empty() || (!session.exploratory() && !session.hasResults());
  if (session.runs.empty() && words.run.empty() && tellsWithout) return std::string();
  const auto run = runNamed(session, words.run, words.session);
  if (!run) return run.error();
  return run.value()->id();
}

void printWritten(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) fmt::print("{}\n", path);
}

Outcome reportAction(const ReportWords& words) {
  const auto language = report::languageFromName(words.language);
  if (!language) return language.error().within("--lang");
  auto formats = report::formatsFromText(words.formats);
  if (!formats) return formats.error();
  const auto session = storage::openSession(words.session);
  if (!session) return session.error();
  const auto runId = runIdOf(session.value(), words);
  if (!runId) return runId.error();
  if (const auto free = report::checkReportFolder(words.out, formats.value()); !free) return free.error();
  const auto content = report::reportContent({words.session, session.value(), runId.value(), words.isCovered});
  if (!content) return content.error();
  const auto written = report::writeReportFiles(words.out, report::reportFiles(content.value(), language.value(), formats.value()));
  if (!written) return written.error();
  printWritten(written.value());
  if (std::find(formats->begin(), formats->end(), Format::pdf) == formats->end()) return 0;
  const std::string pdf = (std::filesystem::path(words.out) / report::fileNames(Format::pdf).front()).string();
  if (const auto printed = printReport({words.session, pdf, runId.value(), words.language, words.isCovered}); !printed) return printed.error();
  printWritten({pdf});
  return 0;
}

constexpr const char* kHelp =
    "Writes a report of a session, for people and for programs. Starts no engine, and needs no display.\n\n"
    "  html   one page without network or script, light and dark, printable\n"
    "  pdf    the same on paper, printed by ulpscope-gui\n"
    "  json   everything that the page says, for programs (resources/schema/report.schema.json)\n"
    "  csv    report-sites.csv, one row an op site, and report-flips.csv, one row a changed decision\n"
    "  junit  the verdict, for a CI job\n\n"
    "Files are named without their folders in it. A file that is no report of Ulpscope is never replaced.\n\n"
    "Examples:\n"
    "  ulpscope report model-fp16.ulps --out report\n"
    "  ulpscope report model-fp16.ulps --out report --format html,pdf --lang pt_BR\n"
    "  ulpscope report model-fp16.ulps --out report --run run_0002\n";

}  // namespace

void addReport(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("report", kHelp);
  auto words = std::make_shared<ReportWords>();
  command->add_option("SESSION", words->session, "the session (.ulps)")->required();
  command->add_option("--out", words->out, "the folder; made where it is missing")->type_name("DIR")->required();
  command->add_option("--format", words->formats, "some of html, pdf, json, csv, junit (default: all but pdf)")->type_name("LIST");
  command->add_option("--lang", words->language, "en or pt_BR (default: en)")->type_name("LANG");
  command->add_option("--run", words->run, "run to report: run_0002 or 2 (default: the latest over all samples)")->type_name("RUN");
  command->add_flag("--covered", words->isCovered, "leave every result out: what was compared and what is locked, for those who must not see more yet");
  command->callback([words, &invocation] { invocation.action = [words] { return reportAction(*words); }; });
}

}  // namespace ulpscope::cli
