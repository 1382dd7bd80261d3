#include "core/report/run_observed.h"

#include "core/base/number_text.h"
#include "core/base/size_text.h"

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

std::string sizeText(std::int64_t bytes) { return base::sizeText(static_cast<std::uint64_t>(bytes)); }

constexpr std::size_t kShownLeftOut = 5;
constexpr std::size_t kShownOutputs = 5;

std::string flipsOfNoise(const RunRecord& run) {
  if (!run.settings.decision.decides()) return "";
  const auto within = std::count_if(run.flips.begin(), run.flips.end(), [](const session::Flip& f) { return f.withinNoiseFloor; });
  std::string text = run.noiseFloor->flips.empty() ? std::string("  FP32 decides every sample as before\n")
                                                   : fmt::format("  FP32 itself decides otherwise: {}\n", listed(run.noiseFloor->flips));
  if (within > 0) text += fmt::format("  {} within the noise floor: not attributable to AMP (marked *)\n", counted(within, "flip"));
  return text;
}

std::string floorRow(const session::OutputFloor& floor) {
  if (std::isnan(floor.relL2)) return fmt::format("  output '{}': not evaluated: no finite values\n", floor.name);
  return fmt::format("  output '{}': relative L2 {}, max abs {}\n", floor.name, shortNumber(floor.relL2), shortNumber(floor.maxAbs));
}

// candidate error / FP32's own error; 0 / 0 is no ratio.
double refereeRatio(const SiteSummary& site) { return *site.candidateErrorToFp64 / *site.referenceErrorToFp64; }

// The worst of some samples is not the worst of all.
std::string ofThoseCompared(const session::Session& session, const RunRecord& run) {
  const std::int64_t compared = run.status == session::RunStatus::ok ? askedSamples(session, run) : run.samplesComplete;
  return compared < static_cast<std::int64_t>(session.samples.ids.size()) ? fmt::format(", of the {} compared", counted(compared, "sample")) : "";
}

// By the rule of core/storage/FORMAT.md.
std::string fileText(const RunRecord& run, const std::string& sessionPath) {
  const bool batchwise = std::any_of(run.capture->sites.begin(), run.capture->sites.end(), [&](const auto& c) { return run.sites.at(static_cast<std::size_t>(c.site)).sampleAxis != "0"; });
  return fmt::format("  in {}.d/run-{:04}.tensors.h5: /{}/captures/capture_NNNNNN/reference and candidate{}; attribute 'label' of capture_NNNNNN: its op site\n", sessionPath,
                     run.number, run.id(), batchwise ? " (reference_b0000, ... where batches stand apart)" : "");
}

}  // namespace

std::string lowName(const RunRecord& run) { return run.settings.autocast == base::DType::bfloat16 ? "BF16" : "FP16"; }

std::string andMore(std::size_t total, std::size_t shown) { return total > shown ? fmt::format("  ... and {} more\n", total - shown) : ""; }

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kShownNames) text += fmt::format(" and {} more", names.size() - kShownNames);
  return text;
}

std::int64_t askedSamples(const session::Session& session, const RunRecord& run) {
  return static_cast<std::int64_t>(run.settings.onlySamples.empty() ? session.samples.ids.size() : run.settings.onlySamples.size());
}

std::string samplesText(const session::Session& session, const RunRecord& run) {
  const std::string all = counted(static_cast<std::int64_t>(session.samples.ids.size()), "sample");
  return run.settings.onlySamples.empty() ? all : base::groupedInteger(askedSamples(session, run)) + " of " + all;
}

std::string subsetText(const RunRecord& run) {
  std::string text;
  if (!run.settings.onlySamples.empty()) text += "Only these samples: " + listed(run.settings.onlySamples) + "\n";
  if (run.settings.observe == session::Observe::outputs) text += "Outputs and decisions only: no op was looked at (--observe full does)\n";
  return text;
}

std::string noiseText(const RunRecord& run) {
  if (!run.noiseFloor) return "";
  if (!run.noiseFloor->skipped.empty()) return "NOISE FLOOR\n  not measured: " + run.noiseFloor->skipped + "\n";
  std::string text = fmt::format("NOISE FLOOR (FP32 against FP32: samples of a batch in reverse order, {}; worst sample)\n", counted(run.noiseFloor->threads, "thread"));
  const auto& outputs = run.noiseFloor->outputs;
  if (outputs.empty()) text += "  not evaluated: no floating-point output has an axis that counts the samples\n";
  for (std::size_t i = 0; i < std::min(outputs.size(), kShownOutputs); ++i)
    text += floorRow(outputs[i]);
  if (outputs.size() > kShownOutputs) text += fmt::format("  ... and {} more\n", outputs.size() - kShownOutputs);
  return text + flipsOfNoise(run);
}

std::string accumulationText(const RunRecord& run) {
  if (!run.accumulation) return "";
  const auto& range = *run.accumulation;
  const bool strict = run.settings.accumulate == session::Accumulate::strict;
  const char* own = strict ? "float32 sums" : "rounded parts";
  const char* other = strict ? "rounded parts" : "float32 sums";
  std::string text = fmt::format("ACCUMULATION (a GPU may add up long sums in parts rounded to {}; this run: {})\n", base::name(run.settings.autocast), own);
  for (std::size_t i = 0; i < std::min(range.outputs.size(), kShownOutputs); ++i) {
    const auto& o = range.outputs[i];
    text += fmt::format("  output '{}': relative L2 {} with {}, {} with {}\n", o.name, shortNumber(o.relL2), own, shortNumber(o.relL2Otherwise), other);
  }
  if (range.outputs.size() > kShownOutputs) text += fmt::format("  ... and {} more\n", range.outputs.size() - kShownOutputs);
  if (range.flips < 0) return text;
  text += fmt::format("  flips: {} with {}, {} with {}\n", range.flips, own, range.flipsOtherwise, other);
  return text + (range.depends.empty() ? std::string("  no decision depends on it\n") : fmt::format("  depends on it: {}\n", listed(range.depends)));
}

std::string refereeText(const session::Session& session, const RunRecord& run) {
  if (!run.settings.referee) return "";
  if (run.candidateError) return "REFEREE (float64)\n  not measured: the candidate raised\n";
  std::vector<const SiteSummary*> sites;
  for (const SiteSummary& site : run.sites)
    if (site.candidateErrorToFp64 && site.referenceErrorToFp64 && *site.referenceErrorToFp64 > 0 && std::isfinite(*site.candidateErrorToFp64)) sites.push_back(&site);
  if (sites.empty()) return "REFEREE (float64)\n  not evaluated: FP32 has no error against float64, or nothing was compared\n";
  std::stable_sort(sites.begin(), sites.end(), [](const auto* a, const auto* b) { return *a->candidateErrorToFp64 > *b->candidateErrorToFp64; });
  std::string text = fmt::format("REFEREE (relative L2 against float64, worst sample{})\n  {:>9} {:>9} {:>14}  {}\n", ofThoseCompared(session, run), "candidate", "FP32",
                                 "candidate/FP32", "op site");
  for (std::size_t i = 0; i < std::min(sites.size(), kShownLeftOut); ++i)
    text += fmt::format("  {:>9} {:>9} {:>14}  {}\n", shortNumber(*sites[i]->candidateErrorToFp64), shortNumber(*sites[i]->referenceErrorToFp64),
                        shortNumber(refereeRatio(*sites[i])), siteLabel(*sites[i]));
  return text;
}

std::string captureText(const RunRecord& run, const std::string& sessionPath) {
  if (!run.capture) return "";
  std::int64_t bytes = 0;
  for (const auto& site : run.capture->sites) bytes += site.bytes;
  std::string text = fmt::format("CAPTURED\n  {} in full, both runs: {} of the budget of {}\n", counted(static_cast<std::int64_t>(run.capture->sites.size()), "op site"),
                                 sizeText(bytes), sizeText(run.capture->budget));
  if (!run.capture->sites.empty()) text += fileText(run, sessionPath);
  const auto& left = run.capture->leftOut;
  if (left.empty()) return text;
  text += fmt::format("  LEFT OUT for want of budget (--capture-budget): {}\n", counted(static_cast<std::int64_t>(left.size()), "op site"));
  for (std::size_t i = 0; i < std::min(left.size(), kShownLeftOut); ++i)
    text += fmt::format("  {:>10}  {}\n", sizeText(left[i].bytes), siteLabel(run.sites.at(static_cast<std::size_t>(left[i].site))));
  return left.size() > kShownLeftOut ? text + fmt::format("  ... and {} more\n", left.size() - kShownLeftOut) : text;
}

std::string wordsText(const RunRecord& run) {
  if (run.settings.observe == session::Observe::outputs || run.sites.empty()) return "";
  std::string text = "Words: op site = one call of an op in a module";
  if (run.settings.observe == session::Observe::full) text += "; introduced = what the op adds on FP32's own inputs";
  if (run.noiseFloor && run.noiseFloor->skipped.empty()) text += "; noise floor = FP32 against itself in another order";
  return text + "\n";
}

}  // namespace ulpscope::report
