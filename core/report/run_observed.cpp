#include "core/report/run_observed.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ulpscope::report {
namespace {

using base::counted;
using base::shortNumber;
using session::Metric;
using session::RunRecord;
using session::SiteSummary;

constexpr std::size_t kShownLeftOut = 5;
constexpr std::size_t kShownOutputs = 5;

std::string flipsOfNoise(const RunRecord& run) {
  if (run.settings.decision.kind == session::DecisionRule::Kind::none) return "";
  const auto within = std::count_if(run.flips.begin(), run.flips.end(), [](const session::Flip& f) { return f.withinNoiseFloor; });
  std::string text = run.noiseFloor->flips.empty() ? std::string("  FP32 decides every sample as before\n")
                                                   : fmt::format("  FP32 itself decides otherwise: {}\n", listed(run.noiseFloor->flips));
  if (within > 0) text += fmt::format("  {} within the noise floor: not attributable to AMP (marked *)\n", counted(within, "flip"));
  return text;
}

// candidate error / FP32's own error; 0 / 0 is no ratio.
double refereeRatio(const SiteSummary& site) { return *site.candidateErrorToFp64 / *site.referenceErrorToFp64; }

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kShownNames) text += fmt::format(" and {} more", names.size() - kShownNames);
  return text;
}

std::string sizeText(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e3) return fmt::format("{} bytes", bytes);
  if (value < 1e6) return fmt::format("{:.1f} kB", value / 1e3);
  return value < 1e9 ? fmt::format("{:.1f} MB", value / 1e6) : fmt::format("{:.2f} GB", value / 1e9);
}

std::string subsetText(const session::Session& session, const RunRecord& run) {
  std::string text;
  if (!run.settings.onlySamples.empty())
    text += fmt::format("Only {} of {} samples: {}\n", run.settings.onlySamples.size(), session.samples.ids.size(), listed(run.settings.onlySamples));
  if (run.settings.observe == session::Observe::outputs) text += "Outputs and decisions only: no op was looked at (--observe full does)\n";
  return text;
}

std::string noiseText(const RunRecord& run) {
  if (!run.noiseFloor) return "";
  if (!run.noiseFloor->skipped.empty()) return "NOISE FLOOR\n  not measured: " + run.noiseFloor->skipped + "\n";
  std::string text = fmt::format("NOISE FLOOR (FP32 against FP32: samples of a batch in reverse order, {})\n", counted(run.noiseFloor->threads, "thread"));
  const auto& outputs = run.noiseFloor->outputs;
  if (outputs.empty()) text += "  not evaluated: no floating-point output has an axis that counts the samples\n";
  for (std::size_t i = 0; i < std::min(outputs.size(), kShownOutputs); ++i)
    text += fmt::format("  output '{}': relative L2 {}, max abs {}\n", outputs[i].name, shortNumber(outputs[i].relL2), shortNumber(outputs[i].maxAbs));
  if (outputs.size() > kShownOutputs) text += fmt::format("  ... and {} more\n", outputs.size() - kShownOutputs);
  return text + flipsOfNoise(run);
}

std::string refereeText(const RunRecord& run) {
  if (!run.settings.referee) return "";
  std::vector<const SiteSummary*> sites;
  for (const SiteSummary& site : run.sites)
    if (site.candidateErrorToFp64 && site.referenceErrorToFp64 && *site.referenceErrorToFp64 > 0 && std::isfinite(*site.candidateErrorToFp64)) sites.push_back(&site);
  if (sites.empty()) return "REFEREE (float64)\n  not evaluated: FP32 has no error against float64, or nothing was compared\n";
  std::stable_sort(sites.begin(), sites.end(), [](const auto* a, const auto* b) { return *a->candidateErrorToFp64 > *b->candidateErrorToFp64; });
  std::string text = fmt::format("REFEREE (relative L2 against float64, worst sample)\n  {:>9} {:>9} {:>8}  {}\n", "candidate", "FP32", "ratio", "op site");
  for (std::size_t i = 0; i < std::min(sites.size(), kShownLeftOut); ++i)
    text += fmt::format("  {:>9} {:>9} {:>8}  {}\n", shortNumber(*sites[i]->candidateErrorToFp64), shortNumber(*sites[i]->referenceErrorToFp64),
                        shortNumber(refereeRatio(*sites[i])), siteLabel(*sites[i]));
  return text;
}

std::string captureText(const RunRecord& run) {
  if (!run.capture) return "";
  std::int64_t bytes = 0;
  for (const auto& site : run.capture->sites) bytes += site.bytes;
  std::string text = fmt::format("CAPTURED\n  {} in full, both runs: {} of the budget of {}\n", counted(static_cast<std::int64_t>(run.capture->sites.size()), "op site"),
                                 sizeText(bytes), sizeText(run.capture->budget));
  const auto& left = run.capture->leftOut;
  if (left.empty()) return text;
  text += fmt::format("  LEFT OUT for want of budget (--capture-budget): {}\n", counted(static_cast<std::int64_t>(left.size()), "op site"));
  for (std::size_t i = 0; i < std::min(left.size(), kShownLeftOut); ++i)
    text += fmt::format("  {:>10}  {}\n", sizeText(left[i].bytes), siteLabel(run.sites.at(static_cast<std::size_t>(left[i].site))));
  return left.size() > kShownLeftOut ? text + fmt::format("  ... and {} more\n", left.size() - kShownLeftOut) : text;
}

}  // namespace ulpscope::report
