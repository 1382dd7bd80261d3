#include "commands.h"
#include "core/base/number_text.h"
#include "core/report/run_document.h"
#include "json_output.h"
#include "run_command_line.h"
#include "run_job.h"
#include "run_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

namespace ulpscope::cli {
namespace {

using session::RunRecord;

// That the reference has not: scores that are NaN in FP32 as well are no finding of autocast.
bool hasNonfinite(const RunRecord& run) {
  return !run.nonfiniteOrigins.empty() || !run.nonfiniteSamples.empty() ||
         std::any_of(run.sites.begin(), run.sites.end(), [](const auto& site) { return site.candidateOnly.total() > 0; });
}

// A sample whose scores autocast made NaN is no proof that nothing flipped: it counts here.
std::string flipFailure(const RunRecord& run) {
  if (!run.flips.empty()) return base::counted(static_cast<std::int64_t>(run.flips.size()), "flip");
  const std::set<std::string> nonfinite(run.nonfiniteSamples.begin(), run.nonfiniteSamples.end());
  const auto lost = std::count_if(run.noDecision.begin(), run.noDecision.end(), [&](const std::string& id) { return nonfinite.count(id) > 0; });
  return lost == 0 ? "" : base::counted(lost, "sample") + " without a decision (scores are NaN)";
}

// 1 for a finding that --fail-on names; what the run asks for by itself goes first.
int judged(const RunRecord& run, const RunOrder& order) {
  if (const auto* finding = run.unexplained())
    std::fprintf(stderr, "ulpscope: FP32 is no baseline: %s; say --allow-nonfinite where that is intended\n", finding->diagnosis.c_str());
  if (const int code = exitCodeOf(run); code != 0) return code;
  std::string why;
  if (order.failOnNonfinite && hasNonfinite(run)) why = "non-finite values (--fail-on nonfinite)";
  if (const std::string flips = flipFailure(run); order.failOnFlip && !flips.empty())
    why += (why.empty() ? "" : "; ") + flips + " (--fail-on flip)";
  if (!why.empty()) {
    std::fprintf(stderr, "ulpscope: failed: %s\n", why.c_str());
    return 1;
  }
  return order.failOnFlip && run.decisions.empty() ? base::exitCode(base::ErrorKind::inconclusive) : 0;
}

// --only-samples chose none: that is an answer, and no run.
Outcome nothingDone(const RunOrder& order) {
  std::fprintf(stderr, "note: %s\n", order.nothingToDo.c_str());
  const auto written = writeJson(order.json, report::noRunDocument(shownPath(order.request.sessionPath), order.nothingToDo));
  return written ? Outcome(0) : written.error();
}

Outcome runAction(const RunWords& words) {
  const auto order = orderFrom(words);
  if (!order) return order.error();
  if (!order->nothingToDo.empty()) return nothingDone(order.value());
  const auto finished = performRun(order->request);
  if (!finished) return finished.error();
  const RunRecord& run = finished->run();
  if (order->request.append && finished->newSession) std::fprintf(stderr, "note: %s did not exist: a new session\n", finished->sessionPath.c_str());
  const auto written = writeJson(order->json, report::runDocument(finished->session, run, finished->sessionPath));
  if (order->json != "-") {
    std::fputs(report::runSummary(finished->session, run, finished->sessionPath).c_str(), stdout);
    std::fputs(nextStep(finished.value(), order->request, order->onlySamplesWord).c_str(), stdout);
  }
  if (!written) return written.error();
  return judged(run, order.value());
}

constexpr const char* kHelp =
    "Runs a model in FP32 and under autocast on the same inputs and compares them op by op.\n\n"
    "Examples:\n"
    "  ulpscope run model.ts --inputs inputs.h5\n"
    "  ulpscope run model.ts --inputs inputs.h5 --decision argmax --fp32 encoder.0.ffn.wo --append\n"
    "  ulpscope run model.ts --inputs inputs.h5 --decision argmax --fail-on nonfinite,flip --json run.json\n";

}  // namespace

void addRun(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("run", kHelp);
  auto words = std::make_shared<RunWords>();
  addRunOptions(*command, *words);
  command->callback([words, &invocation] { invocation.action = [words] { return runAction(*words); }; });
}

}  // namespace ulpscope::cli
