#include "core/base/number_text.h"
#include "core/report/rate_interval.h"
#include "core/report/run_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ulpscope::report {
namespace {

using base::counted;
using base::shortNumber;
using session::Flip;
using session::NonfiniteFinding;
using session::RunRecord;
using session::ScoredClass;
using session::Session;
using session::SiteSummary;

constexpr std::size_t kShownFlips = 10;
constexpr std::size_t kShownSites = 5;
constexpr std::size_t kShownNames = 10;
constexpr std::size_t kShownOrigins = 5;

std::string lowName(const RunRecord& run) { return run.settings.autocast == base::DType::bfloat16 ? "BF16" : "FP16"; }
std::string moduleName(const std::string& path) { return path.empty() ? "(root)" : path; }

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kShownNames) text += fmt::format(" and {} more", names.size() - kShownNames);
  return text;
}

std::string andMore(std::size_t total, std::size_t shown) {
  return total > shown ? fmt::format("  ... and {} more\n", total - shown) : "";
}

std::string header(const Session& session, const RunRecord& run) {
  const std::string file = std::filesystem::path(session.model.path).filename().string();
  std::string text = fmt::format("{}: {}, {}, {}\n", run.id(), file,
                                 counted(static_cast<std::int64_t>(session.samples.ids.size()), "sample"),
                                 counted(static_cast<std::int64_t>(run.sites.size()), "op site"));
  text += fmt::format("{} autocast ({}, {}) against FP32; exploratory: no criteria\n", lowName(run), run.policyTable,
                      session::name(run.settings.mode));
  if (!run.settings.fp32.empty()) text += "Kept in FP32: " + listed(run.settings.fp32) + "\n";
  if (!run.settings.disable.empty()) text += "Autocast off, inputs as they are: " + listed(run.settings.disable) + "\n";
  if (run.status != session::RunStatus::ok)
    text += fmt::format("NOT COMPLETE ({}): {} of {} were compared\n", session::name(run.status), run.samplesComplete,
                        counted(static_cast<std::int64_t>(session.samples.ids.size()), "sample"));
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
  return text + fmt::format("\n    {} NaN, {} +inf, {} -inf\n", finding.counts.nan, finding.counts.plusInf, finding.counts.minusInf);
}

std::string nonfiniteText(const RunRecord& run) {
  if (run.nonfiniteOrigins.empty()) {
    if (run.sites.empty()) return "NON-FINITE\n  not evaluated: no op was compared\n";
    return "NON-FINITE\n  no non-finite values that the reference does not have\n";
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

std::string divergenceText(const RunRecord& run) {
  std::string text;
  if (run.candidateError)
    text += fmt::format("THE {} RUN RAISED\n  {} in {}: {}\n", lowName(run), run.candidateError->op,
                        moduleName(run.candidateError->modulePath), run.candidateError->message);
  if (!run.controlFlow.empty()) text += "CONTROL FLOW DIVERGED\n";
  for (std::size_t i = 0; i < std::min(run.controlFlow.size(), kShownNames); ++i)
    text += fmt::format("  {} in {}: {}\n", run.controlFlow[i].op, moduleName(run.controlFlow[i].modulePath), run.controlFlow[i].what);
  return text + andMore(run.controlFlow.size(), kShownNames);
}

std::string decisionName(const Session& session, std::int64_t index, const std::vector<ScoredClass>& top) {
  if (!top.empty() && top.front().index == index && !top.front().name.empty()) return top.front().name;
  return session.className(index);
}

std::string flipRow(const Session& session, const RunRecord& run, const Flip& flip) {
  const auto site = static_cast<std::size_t>(flip.firstSiteOverTolerance);
  const bool known = flip.firstSiteOverTolerance >= 0 && site < run.sites.size();
  std::string kind = flip.kind + (flip.effect.empty() ? "" : ", " + flip.effect);
  if (!flip.positions.empty()) kind += fmt::format(", {}", counted(static_cast<std::int64_t>(flip.positions.size()), "position"));
  return fmt::format("  {:<12} {:<14} {:<14} {:>11} {:>11}  {:<24} {}\n", flip.sampleId,
                     decisionName(session, flip.referenceDecision, flip.referenceTop),
                     decisionName(session, flip.candidateDecision, flip.candidateTop), shortNumber(flip.referenceMargin),
                     shortNumber(flip.candidateMargin), kind, known ? siteLabel(run.sites[site]) : "-");
}

std::string flipTable(const Session& session, const RunRecord& run) {
  const std::string low = lowName(run);
  std::string text = fmt::format("  {:<12} {:<14} {:<14} {:>11} {:>11}  {:<24} {}\n", "sample", "FP32", low, "margin FP32",
                                 "margin " + low, "kind", "first site over tolerance");
  for (std::size_t i = 0; i < std::min(run.flips.size(), kShownFlips); ++i) text += flipRow(session, run, run.flips[i]);
  return text + andMore(run.flips.size(), kShownFlips);
}

std::string decisionText(const Session& session, const RunRecord& run) {
  if (run.settings.decision.kind == session::DecisionRule::Kind::none) return "DECISIONS\n  none asked for (--decision argmax)\n";
  const auto missing = static_cast<std::int64_t>(run.noDecision.size());
  const auto total = static_cast<std::int64_t>(run.decisions.size()) - missing;
  const auto flips = static_cast<std::int64_t>(run.flips.size());
  std::string text = fmt::format("DECISIONS ({})\n", run.settings.decision.text());
  if (total <= 0)
    text += "  not evaluated: no sample has a decision in both runs\n";
  else
    text += fmt::format("  {} of {} flip ({})\n", flips, counted(total, "decision"), rateText(std::min(flips, total), total));
  if (missing > 0)
    text += fmt::format("  no decision for {} (scores are NaN), not counted above: {}\n", counted(missing, "sample"), listed(run.noDecision));
  return flips > 0 ? text + flipTable(session, run) : text;
}

std::vector<const SiteSummary*> worstSites(const RunRecord& run) {
  std::vector<const SiteSummary*> sites;
  for (const SiteSummary& site : run.sites)
    if (site.viewOf.empty() && !std::isnan(site.relL2) && site.relL2 > 0) sites.push_back(&site);
  std::stable_sort(sites.begin(), sites.end(), [](const auto* a, const auto* b) { return a->relL2 > b->relL2; });
  return sites;
}

std::string siteRow(const Session& session, const SiteSummary& site) {
  const auto worst = static_cast<std::size_t>(site.worstSample);
  const bool known = site.worstSample >= 0 && worst < session.samples.ids.size();
  return fmt::format("  {:>9} {:>9}  {:<9} {:<12} {}\n", shortNumber(site.relL2), shortNumber(site.maxAbs),
                     base::name(site.candidateDtype), known ? session.samples.ids[worst] : "batch", siteLabel(site));
}

std::string sitesText(const Session& session, const RunRecord& run) {
  const auto evaluated = std::count_if(run.sites.begin(), run.sites.end(), [](const SiteSummary& s) {
    return s.viewOf.empty() && !std::isnan(s.relL2);
  });
  if (evaluated == 0) return "WORST OP SITES\n  not evaluated: no op site has finite values in both runs; do not trust this run\n";
  const auto sites = worstSites(run);
  if (sites.empty()) return fmt::format("WORST OP SITES\n  none: {} equal in both runs\n", counted(evaluated, "op site"));
  std::string text = fmt::format("WORST OP SITES (relative L2 over finite values)\n  {:>9} {:>9}  {:<9} {:<12} {}\n", "rel L2",
                                 "max abs", "dtype", "sample", "op site");
  for (std::size_t i = 0; i < std::min(sites.size(), kShownSites); ++i) text += siteRow(session, *sites[i]);
  return text + andMore(sites.size(), kShownSites);
}

// What the change of policy did: the run before it in the same session.
std::string beforeText(const Session& session, const RunRecord& run) {
  const RunRecord* before = nullptr;
  for (const RunRecord& other : session.runs)
    if (other.number < run.number) before = &other;
  if (!before) return "";
  std::string text = fmt::format("Against {} ({}): non-finite origins {} -> {}", before->id(), runLabel(*before),
                                 before->nonfiniteOrigins.size(), run.nonfiniteOrigins.size());
  const bool sameDecision = before->settings.decision.text() == run.settings.decision.text() &&
                            before->settings.decisionOutput == run.settings.decisionOutput &&
                            run.settings.decision.kind != session::DecisionRule::Kind::none;
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
  for (const std::string& part : {divergenceText(run), nonfiniteText(run), referenceText(run), decisionText(session, run),
                                  sitesText(session, run), notesText(run)})
    if (!part.empty()) text += "\n" + part;
  text += "\n" + beforeText(session, run);
  return text + fmt::format("Session: {} ({}); open it with: ulpscope gui {}\n", sessionPath, run.id(), sessionPath);
}

}  // namespace ulpscope::report
