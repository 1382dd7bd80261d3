// What RunDriver says of non-finite values once all batches ran: which of the reference's are intended, which came first, what is to blame.
#include "core/engine/root_cause.h"
#include "core/engine/run_driver.h"
#include "core/session/allowed_nonfinite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ulpscope::engine {
namespace {

constexpr std::size_t kSearched = 8;  // findings whose cause is looked for: each costs a forward of one sample in both runs

// An overflow is the fault of the op that overflows.
bool mayHaveAnother(const session::NonfiniteFinding& finding) {
  return finding.cause.rfind("overflow", 0) != 0 && (!finding.sampleIds.empty() || finding.wholeBatch);
}

}  // namespace

// A mask's infinities are meant; the rest is what the user says.
void RunDriver::explainReference() {
  std::vector<std::string> idle = m_settings.allowNonfinite;
  for (session::NonfiniteFinding& finding : m_run.referenceNonfinite) {
    if (finding.cause == kMaskConstant && finding.counts.nan == 0) finding.explainedBy = "a mask's constant";
    for (const std::string& rule : m_settings.allowNonfinite) {
      if (!session::explains(rule, finding)) continue;
      if (finding.explainedBy.empty()) finding.explainedBy = rule;
      idle.erase(std::remove(idle.begin(), idle.end(), rule), idle.end());
    }
  }
  for (const std::string& rule : idle) m_run.warnings.push_back("--allow-nonfinite " + rule + " explains nothing: FP32 has no non-finite value there");
  if (const auto* first = m_run.unexplained()) m_run.warnings.push_back("FP32 is no baseline, it has non-finite values itself: " + first->diagnosis);
}

// Of all sites, origins and consequences alike.
void RunDriver::findFirstValues(const RunOutcome& outcome) {
  const std::int64_t samples = outcome.metrics.samples();
  const auto first = [&](std::uint8_t flags, auto count) -> std::optional<session::FirstValue> {
    for (std::size_t i = 0; i < m_run.sites.size(); ++i) {
      if (count(m_run.sites[i].candidateOnly) == 0) continue;
      session::FirstValue value{static_cast<std::int64_t>(i), {}};
      for (std::int64_t s = 0; s < samples; ++s) {
        const std::uint8_t cell = outcome.metrics.flags[i * static_cast<std::size_t>(samples) + static_cast<std::size_t>(s)];
        if ((cell & flags) && !((cell & storage::kCellWholeBatch) && samples > 1)) value.sampleIds.push_back(m_set.samples.ids[static_cast<std::size_t>(s)]);
      }
      return value;
    }
    return std::nullopt;
  };
  m_run.firstNan = first(storage::kCellNan, [](const session::NonfiniteCounts& c) { return c.nan; });
  m_run.firstInf = first(storage::kCellPlusInf | storage::kCellMinusInf, [](const session::NonfiniteCounts& c) { return c.plusInf + c.minusInf; });
}

// The sample in which the finding arose; without ids the first one will do.
void RunDriver::findRootCauses(const Comparison& comparison) {
  std::map<std::int64_t, SiteKey> keys;
  for (const auto& [key, number] : comparison.siteNumbers()) keys.emplace(number, key);
  std::size_t searched = 0;
  for (session::NonfiniteFinding& finding : m_run.nonfiniteOrigins) {
    if (!mayHaveAnother(finding) || keys.count(finding.site) == 0 || ++searched > kSearched) continue;
    const auto& ids = m_set.samples.ids;
    const auto at = finding.sampleIds.empty() ? ids.begin() : std::find(ids.begin(), ids.end(), finding.sampleIds.front());
    torch::jit::Module reference = copyForRun(m_model.module, m_settings.trainMode), candidate = copyForRun(m_model.module, m_settings.trainMode);
    ReferenceExecutor plain;
    const auto executor = candidateExecutor();
    const Arguments arguments = argumentsFor(m_set, Batch{at - ids.begin(), 1});
    RootCauseSearch search(keys.at(finding.site));
    runPair([&](const EventSink& sink) { return runForward(m_frame.reference(reference, plain, arguments), sink); },
            [&](const EventSink& sink) { return runForward(candidateSetup(candidate, *executor, arguments), sink); }, search, {});
    finding.rootCause = search.found();
    if (finding.rootCause)
      finding.diagnosis += fmt::format("; lost in {}: {} ({})", finding.rootCause->modulePath.empty() ? "the root module" : finding.rootCause->modulePath,
                                       finding.rootCause->op, finding.rootCause->why);
  }
}

}  // namespace ulpscope::engine
