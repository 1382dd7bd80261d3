#include "core/base/number_text.h"
#include "core/report/run_document.h"
#include "core/report/run_observed.h"
#include "core/report/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ulpscope::report {
namespace {

using base::counted;
using base::shortNumber;
using session::Metric;
using session::NonfiniteFinding;
using session::RunRecord;
using session::Session;
using session::SiteSummary;

constexpr std::size_t kShownSites = 5;
constexpr std::size_t kShownOrigins = 5;

std::string moduleName(const std::string& path) { return path.empty() ? "(root)" : path; }

// What a run that broke off says holds for its beginning only.
std::string upTo(const RunRecord& run) { return run.candidateError ? ", up to the error" : ""; }

std::string howText(const RunRecord& run) {
  const std::string mode = session::name(run.settings.mode);
  return run.settings.mode == session::Mode::recorded ? fmt::format("{} on {} with PyTorch {}", mode, run.settings.device, run.libtorchVersion) : mode;
}

std::string header(const Session& session, const RunRecord& run) {
  const std::string file = std::filesystem::path(session.model.path).filename().string();
  const bool lookedAtOps = run.settings.observe != session::Observe::outputs;
  std::string text = fmt::format("{}: {}, {}{}\n", run.id(), file, samplesText(session, run),
                                 lookedAtOps ? ", " + counted(static_cast<std::int64_t>(run.sites.size()), "op site") : "");
  text += fmt::format("{} autocast ({}, {}) against FP32; {}\n", lowName(run), run.policyTable, howText(run),
                      session.exploratory() ? std::string("exploratory: no criteria") : fmt::format("validation by criteria revision {}, locked {}", session.criteria.back().number, session.criteria.back().lockedUtc));
  if (!run.settings.fp32.empty()) text += "Kept in FP32: " + listed(run.settings.fp32) + "\n";
  if (!run.settings.disable.empty()) text += "Autocast off, inputs as they are: " + listed(run.settings.disable) + "\n";
  if (run.status != session::RunStatus::ok)
    text += fmt::format("NOT COMPLETE ({}): {} of {} {}\n", session::name(run.status), run.samplesComplete,
                        counted(askedSamples(session, run), "sample"),
                        run.candidateError ? "ran to the end; what follows takes in the ops of the next batch up to the error" : "were compared");
  text += subsetText(run);
  if (!run.eagerCheck.empty()) text += run.eagerCheck + "\n";
  if (run.probeCheck == "identical") text += "Probe check: outputs with and without observers are bit-identical\n";
  if (run.probeCheck == "differs") text += "PROBE CHECK FAILED: observing changed the outputs; do not trust this run\n";
  return text;
}

std::string placeText(const NonfiniteFinding& finding) {
  if (finding.op.empty()) return finding.stage;
  std::string place = finding.op + (finding.overload.empty() ? "" : "." + finding.overload);
  place += " in " + moduleName(finding.modulePath);
  if (!finding.source.empty()) place += " at " + finding.source;
  return place;
}

std::string sampleText(const NonfiniteFinding& finding) {
  if (finding.wholeBatch) return "the batch (samples cannot be told apart here)";
  if (finding.sampleIds.empty()) return "";
  return (finding.sampleIds.size() == 1 ? "sample " : "samples ") + listed(finding.sampleIds);
}

std::string originText(const NonfiniteFinding& finding) {
  std::string text = "  " + (finding.diagnosis.empty() ? placeText(finding) : finding.diagnosis) + "\n";
  text += fmt::format("    {}; cause: {}", placeText(finding), finding.cause);
  if (const std::string samples = sampleText(finding); !samples.empty()) text += "; " + samples;
  if (finding.rootCause)
    text += fmt::format("\n    lost before: {} in {}{}: {}", finding.rootCause->op, moduleName(finding.rootCause->modulePath),
                        finding.rootCause->source.empty() ? "" : " at " + finding.rootCause->source, finding.rootCause->why);
  if (!finding.explainedBy.empty()) text += "\n    intended: " + finding.explainedBy;
  return text + fmt::format("\n    {} NaN, {} +inf, {} -inf\n", finding.counts.nan, finding.counts.plusInf, finding.counts.minusInf);
}

std::string nonfiniteText(const RunRecord& run) {
  if (run.settings.observe == session::Observe::outputs) {
    if (run.nonfiniteSamples.empty()) return "NON-FINITE\n  no output is non-finite where the reference's is not\n";
    return fmt::format("NON-FINITE\n  outputs of {}: {}\n  where it starts: --observe full --only-samples nonfinite --append\n",
                       counted(static_cast<std::int64_t>(run.nonfiniteSamples.size()), "sample"), listed(run.nonfiniteSamples));
  }
  if (run.nonfiniteOrigins.empty()) {
    if (run.sites.empty()) return "NON-FINITE\n  not evaluated: no op was compared\n";
    return fmt::format("NON-FINITE\n  no non-finite values that the reference does not have{}\n", upTo(run));
  }
  std::string text = "FIRST NON-FINITE\n" + originText(run.nonfiniteOrigins.front());
  text += run.consequenceSites == 0 ? "  no later op site carries it on\n"
                                    : fmt::format("  carried on by {} (consequences)\n", counted(run.consequenceSites, "later op site"));
  if (run.nonfiniteOrigins.size() == 1) return text;
  text += fmt::format("  {} further on its own:\n", counted(static_cast<std::int64_t>(run.nonfiniteOrigins.size()) - 1, "origin"));
  for (std::size_t i = 1; i < std::min(run.nonfiniteOrigins.size(), 1 + kShownOrigins); ++i)
    text += originText(run.nonfiniteOrigins[i]);
  return text + andMore(run.nonfiniteOrigins.size(), 1 + kShownOrigins);
}

std::string referenceText(const RunRecord& run) {
  if (run.referenceNonfinite.empty()) return "";
  std::string text = "NON-FINITE IN THE FP32 REFERENCE (no fault of autocast)\n";
  for (std::size_t i = 0; i < std::min(run.referenceNonfinite.size(), kShownOrigins); ++i)
    text += originText(run.referenceNonfinite[i]);
  return text + andMore(run.referenceNonfinite.size(), kShownOrigins);
}

// Equal lines once, in the order of the first of each.
std::string controlFlowText(const RunRecord& run) {
  std::vector<std::pair<std::string, std::int64_t>> lines;
  for (const auto& finding : run.controlFlow) {
    const std::string line = fmt::format("{} in {}: {}", finding.op, moduleName(finding.modulePath), finding.what);
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& other) { return other.first == line; });
    if (same == lines.end())
      lines.emplace_back(line, 1);
    else
      ++same->second;
  }
  std::string text = lines.empty() ? "" : "CONTROL FLOW DIVERGED\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kShownNames); ++i)
    text += "  " + lines[i].first + (lines[i].second > 1 ? fmt::format(" ({} times)", lines[i].second) : "") + "\n";
  return text + andMore(lines.size(), kShownNames);
}

std::string divergenceText(const RunRecord& run) {
  std::string text;
  if (run.candidateError)
    text += fmt::format("THE {} RUN RAISED\n  {} in {}: {}\n", lowName(run), run.candidateError->op,
                        moduleName(run.candidateError->modulePath), run.candidateError->message);
  return text + controlFlowText(run);
}

std::vector<const SiteSummary*> worstSites(const RunRecord& run) {
  std::vector<const SiteSummary*> sites;
  for (const SiteSummary& site : run.sites)
    if (site.viewOf.empty() && site.values[Metric::relL2] > 0) sites.push_back(&site);
  std::stable_sort(sites.begin(), sites.end(), [](const auto* a, const auto* b) { return a->values[Metric::relL2] > b->values[Metric::relL2]; });
  return sites;
}

std::string siteRow(const Session& session, const SiteSummary& site) {
  const auto worst = static_cast<std::size_t>(site.worstSample);
  const bool known = site.worstSample >= 0 && worst < session.samples.ids.size();
  return fmt::format("  {:>9} {:>10} {:>9}  {:<9} {:<12} {}\n", shortNumber(site.values[Metric::relL2]),
                     site.values.has(Metric::introducedRelL2) ? shortNumber(site.values[Metric::introducedRelL2]) : "-", shortNumber(site.values[Metric::maxAbs]),
                     base::name(site.candidateDtype), known ? session.samples.ids[worst] : "batch", siteLabel(site));
}

// Where it starts is the largest introduced error, not the largest error.
std::string largestIntroduced(const RunRecord& run) {
  const SiteSummary* largest = nullptr;
  for (const SiteSummary& site : run.sites) {
    const double introduced = site.values[Metric::introducedRelL2];
    if (!(introduced > 0)) continue;  // NaN: not evaluated
    if (!largest || introduced > largest->values[Metric::introducedRelL2]) largest = &site;
  }
  if (!largest) return "";
  return fmt::format("  largest introduced error: {} at {}\n", shortNumber(largest->values[Metric::introducedRelL2]), siteLabel(*largest));
}

std::string outputRow(const session::OutputSummary& output) {
  std::string text = fmt::format("  output '{}': ", output.name);
  if (output.elements == 0)
    text += "no values compared";
  else if (base::isInexact(output.dtype) && output.relL2)
    text += fmt::format("relative L2 {} over all its finite values, max abs {}", shortNumber(*output.relL2), output.maxAbs ? shortNumber(*output.maxAbs) : "-");
  else if (base::isInexact(output.dtype))
    text += "not evaluated: no value is finite in both runs";
  else if (output.differingElements == 0)
    text += fmt::format("{} equal", output.elements == 1 ? "its 1 value is" : "all " + counted(output.elements, "value") + " are");
  else
    text += fmt::format("{} of {} differ", base::groupedInteger(output.differingElements), counted(output.elements, "value"));
  const session::NonfiniteCounts& bad = output.nonfinite;
  if (bad.total() > 0) text += fmt::format("; NON-FINITE: {} NaN, {} +inf, {} -inf", bad.nan, bad.plusInf, bad.minusInf);
  return text + "\n";
}

std::string outputsText(const RunRecord& run) {
  if (run.outputs.empty()) return run.candidateError || run.samplesComplete == 0 ? "" : "OUTPUTS\n  none: the model returns no tensor, so only its ops were compared\n";
  std::string text = "OUTPUTS\n";
  for (std::size_t i = 0; i < std::min(run.outputs.size(), kShownNames); ++i) text += outputRow(run.outputs[i]);
  return text + andMore(run.outputs.size(), kShownNames);
}

// They have no distance and so no row among the worst sites; an index that differs changes all that comes after it.
std::string discreteSitesText(const RunRecord& run) {
  std::vector<const SiteSummary*> sites;
  for (const SiteSummary& site : run.sites)
    if (site.viewOf.empty() && !base::isInexact(site.candidateDtype) && site.differingElements > 0) sites.push_back(&site);
  if (sites.empty()) return "";
  std::stable_sort(sites.begin(), sites.end(), [](const auto* a, const auto* b) { return a->differingElements > b->differingElements; });
  std::string text = fmt::format("INTEGER AND BOOL OP SITES THAT DIFFER\n  {:>18}  {:<9} {}\n", "differing elements", "dtype", "op site");
  for (std::size_t i = 0; i < std::min(sites.size(), kShownSites); ++i)
    text += fmt::format("  {:>18}  {:<9} {}\n", base::groupedInteger(sites[i]->differingElements), base::name(sites[i]->candidateDtype), siteLabel(*sites[i]));
  return text + andMore(sites.size(), kShownSites);
}

std::string sitesText(const Session& session, const RunRecord& run) {
  if (run.settings.observe == session::Observe::outputs) return "";
  const auto evaluated = std::count_if(run.sites.begin(), run.sites.end(), [](const SiteSummary& s) {
    return s.viewOf.empty() && s.values.has(Metric::relL2);
  });
  if (evaluated == 0) return "WORST OP SITES\n  not evaluated: no op site has finite values in both runs; do not trust this run\n";
  const auto sites = worstSites(run);
  if (sites.empty()) return fmt::format("WORST OP SITES\n  none: {} equal in both runs{}\n", counted(evaluated, "op site"), upTo(run));
  std::string text = fmt::format("WORST OP SITES (relative L2, worst sample, over finite values{})\n  {:>9} {:>10} {:>9}  {:<9} {:<12} {}\n",
                                 upTo(run), "rel L2", "introduced", "max abs", "dtype", "sample", "op site");
  for (std::size_t i = 0; i < std::min(sites.size(), kShownSites); ++i) text += siteRow(session, *sites[i]);
  return text + andMore(sites.size(), kShownSites) + largestIntroduced(run);
}

// What the change of policy did: the run before it in the same session.
std::string beforeText(const Session& session, const RunRecord& run) {
  const RunRecord* before = nullptr;
  for (const RunRecord& other : session.runs)
    if (other.number < run.number && other.settings.onlySamples == run.settings.onlySamples) before = &other;
  if (!before) return "";
  std::string text = fmt::format("Against {} ({}): non-finite origins {} -> {}", before->id(), runLabel(*before),
                                 before->nonfiniteOrigins.size(), run.nonfiniteOrigins.size());
  const bool sameDecision = before->settings.decision.text() == run.settings.decision.text() &&
                            before->settings.decisionOutput == run.settings.decisionOutput &&
                            run.settings.decision.decides();
  if (sameDecision)
    text += fmt::format(", flips {} -> {}, without decision {} -> {}", before->flips.size(), run.flips.size(),
                        before->noDecision.size(), run.noDecision.size());
  return text + "\n";
}

std::string notesText(const RunRecord& run) {
  std::string text;
  for (const std::string& warning : run.warnings) text += "warning: " + warning + "\n";
  if (!run.unresolvedCalls.empty()) text += "calls without a module path: " + listed(run.unresolvedCalls) + "\n";
  return text;
}

}  // namespace

std::string runSummary(const Session& session, const RunRecord& run, const std::string& sessionPath) {
  std::string text = header(session, run);
  if (run.verdict) text += "\n" + verdictText(session, *run.verdict);
  for (const std::string& part : {divergenceText(run), nonfiniteText(run), referenceText(run), decisionText(session, run),
                                  outputsText(run), accumulationText(run), noiseText(run), sitesText(session, run), discreteSitesText(run),
                                  refereeText(session, run), captureText(run, sessionPath), notesText(run)})
    if (!part.empty()) text += "\n" + part;
  text += "\n" + wordsText(run) + beforeText(session, run);
  return text + fmt::format("Session: {} ({}); open it with: ulpscope gui {}\n", sessionPath, run.id(), sessionPath);
}

}  // namespace ulpscope::report
