#include "core/report/flip_statement.h"

#include "core/base/number_text.h"
#include "core/report/rate_interval.h"
#include "core/report/run_observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace ulpscope::report {
namespace {

using base::groupedInteger;
using base::shortNumber;
using session::DecisionRule;
using session::RunRecord;
using session::Session;

constexpr std::size_t kDigestShown = 12;  // digits of a SHA-256

std::string counted(std::int64_t count, const std::string& noun) { return base::counted(count, noun); }
// "2 regress", "1 regresses".
std::string does(std::int64_t count, const char* one, const char* several) { return groupedInteger(count) + " " + (count == 1 ? one : several); }

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string conditionsOfRun(const RunRecord& run) {
  std::string text = fmt::format("{}, policy {}", session::name(run.settings.mode), run.policyTable);
  if (run.settings.accumulate == session::Accumulate::pessimistic) text += ", long sums in rounded parts";
  if (!run.settings.fp32.empty()) text += ", kept in FP32: " + listed(run.settings.fp32);
  if (!run.settings.disable.empty()) text += ", autocast off in: " + listed(run.settings.disable);
  return text;
}

std::string opening(const RunRecord& run) { return fmt::format("Under {} autocast ({}) ", lowName(run), conditionsOfRun(run)); }

// Why nothing can be signed; empty: something can.
std::string obstacle(const RunRecord& run) {
  if (run.settings.decision.kind == DecisionRule::Kind::none) return "This run reads no decisions; run with --decision argmax (or another rule).";
  if (run.candidateError) return fmt::format("The {} run raised in {}: nothing can be said of its decisions.", lowName(run), run.candidateError->modulePath.empty() ? "(root)" : run.candidateError->modulePath);
  if (run.unexplained()) return "FP32 itself has NaN or inf that nothing explains: it is no baseline, so no statement.";
  if (run.probeCheck == "differs") return "Observing changed the outputs of this run: no statement.";
  return "";
}

std::string effectsText(const FlipFacts& facts) {
  std::vector<std::string> parts;
  if (facts.regressed > 0) parts.push_back(does(facts.regressed, "regresses", "regress"));
  if (facts.fixed > 0) parts.push_back(does(facts.fixed, "is fixed", "are fixed"));
  if (facts.wrongToWrong > 0) parts.push_back(does(facts.wrongToWrong, "goes from wrong to wrong", "go from wrong to wrong"));
  if (facts.flips > 0 && parts.empty()) parts.push_back("without labels it is not known which are worse");
  if (facts.tieFlips > 0) parts.push_back(does(facts.tieFlips, "makes or breaks a tie", "make or break ties"));
  if (facts.withinNoise > 0) parts.push_back(does(facts.withinNoise, "is within FP32's own noise", "are within FP32's own noise"));
  return joined(parts, ", ");
}

std::string missingText(const RunRecord& run, const FlipFacts& facts) {
  std::vector<std::string> parts;
  if (facts.noDecision > 0) parts.push_back(fmt::format("{} no decision under {} (NaN scores)", does(facts.noDecision, "sample has", "samples have"), lowName(run)));
  if (facts.noReferenceDecision > 0) parts.push_back(fmt::format("{} none in FP32 itself", does(facts.noReferenceDecision, "sample has", "samples have")));
  return parts.empty() ? "" : joined(parts, " and ") + ", not counted";
}

std::string ofTheFlips(std::int64_t inside, std::int64_t flips) {
  if (flips == 0) return "none of them flips";
  if (inside == 0) return flips == 1 ? "the flip does not lie there" : "no flip lies there";
  if (inside < flips) return fmt::format("{} of the {} flips {} there", inside, flips, inside == 1 ? "lies" : "lie");
  return flips == 1 ? "where the flip lies" : fmt::format("where all {} flips lie", flips);
}

std::string marginText(const Session& session, const RunRecord& run, const FlipFacts& facts, double below) {
  if (run.settings.decision.errorsToFlip() == 0) return "";
  if (std::isfinite(below)) {
    const MarginCut cut = marginCut(session, run, below);
    const std::string samples = cut.samples == 0 ? "no sample has" : does(cut.samples, "sample has", "samples have");
    const std::string flips = cut.samples == 0 && facts.flips == 0 ? "" : ", " + ofTheFlips(cut.flips, facts.flips);
    return fmt::format("{} an FP32 margin below {}{}", samples, base::exactNumber(below), flips);
  }
  if (facts.flips == 0) return "";
  return fmt::format("{} {}", facts.flips == 1 ? "its FP32 margin is" : "the largest FP32 margin among them is", shortNumber(facts.largestFlipMargin));
}

std::string rateClause(const RunRecord& run, const FlipFacts& facts) {
  const bool isChosen = !run.settings.onlySamples.empty();
  const std::string count = fmt::format("{} of {}{} decided otherwise than in FP32", groupedInteger(facts.flips),
                                        isChosen ? counted(facts.decided, "chosen sample") : counted(facts.decided, "sample"), facts.flips == 1 ? " is" : " are");
  const std::string where = facts.positions > 0 ? fmt::format(" at one position or more ({})", counted(facts.positions, "position")) : "";
  if (isChosen) return count + where + " (they were chosen, so there is no rate)";
  return fmt::format("{}{} ({})", count, where, rateText(facts.flips, facts.decided));
}

std::string decisionSentence(const Session& session, const RunRecord& run, const FlipFacts& facts, double below) {
  std::vector<std::string> parts{rateClause(run, facts), effectsText(facts), marginText(session, run, facts, below), missingText(run, facts)};
  std::erase(parts, std::string());
  return opening(run) + joined(parts, "; ") + "; on this set, with these weights.";
}

std::string regressionSentence(const RunRecord& run) {
  const session::Regression& r = *run.regression;
  std::string text = opening(run) + fmt::format("the output differs from FP32 by at most {} (root mean square {}) over {}", shortNumber(r.candidateToReference.max),
                                                shortNumber(r.candidateToReference.rootMeanSquare), counted(r.elements, "value"));
  if (!r.worstSample.empty()) text += ", most in sample " + r.worstSample;
  if (r.notEvaluated > 0) text += fmt::format("; {} not finite in one run or both, not counted", does(r.notEvaluated, "value is", "values are"));
  return text + (run.settings.onlySamples.empty() ? "; on this set, with these weights." : "; on the samples that were chosen, with these weights.");
}

std::string criteriaCondition(const Session& session, const RunRecord& run) {
  if (session.exploratory()) return "Exploratory: no acceptance criteria were locked before this run.";
  std::string text = fmt::format("Acceptance criteria: revision {}, locked {}", session.criteria.back().number, session.criteria.back().lockedUtc);
  text += run.verdict ? fmt::format("; verdict by revision {}: {}", run.verdict->revision, session::name(run.verdict->status)) : std::string("; no verdict");
  return text + (session.criteriaAfterResults() ? "; written after results on these samples were known." : ".");
}

std::string kindsCondition(const Session& session) {
  const auto& kinds = session.samples.kinds;
  const auto rare = std::count_if(kinds.begin(), kinds.end(), [](const std::string& kind) { return kind != "common"; });
  return rare == 0 ? "" : fmt::format("{} of the {} are edge or boundary cases: the rate is not that of common inputs.", groupedInteger(rare), counted(static_cast<std::int64_t>(kinds.size()), "sample"));
}

std::string noiseCondition(const RunRecord& run, const FlipFacts& facts) {
  if (facts.flips == 0 || (run.noiseFloor && run.noiseFloor->skipped.empty())) return "";
  return "FP32's own noise was not measured: some of these flips may be FP32's.";
}

std::string accumulationCondition(const RunRecord& run) {
  if (!run.accumulation || run.accumulation->flips < 0) return "";
  const bool strict = run.settings.accumulate == session::Accumulate::strict;
  return fmt::format("With long sums {} {} instead of {}.", strict ? "in rounded parts, as a GPU may add them," : "in float32", does(run.accumulation->flipsOtherwise, "sample flips", "samples flip"),
                     groupedInteger(run.accumulation->flips));
}

std::string tieCondition(const RunRecord& run, const FlipFacts& facts) {
  if (facts.tiedInReference == 0) return "";
  return fmt::format("{} in FP32; tie rule: {}.", does(facts.tiedInReference, "sample ties", "samples tie"), session::name(run.settings.tie));
}

std::string files(const Session& session, const RunRecord& run) {
  const auto leaf = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  const auto shortened = [](const std::string& digest) { return digest.substr(0, kDigestShown); };
  const std::string output = run.settings.decisionOutput.empty() ? "" : fmt::format(" of output '{}'", run.settings.decisionOutput);
  return fmt::format("Model {} (code {}, weights {}), inputs {} (SHA-256 {}), decision {}{}, {} of {}.", leaf(session.model.path), shortened(session.model.fingerprint.codeSha256),
                     shortened(session.model.fingerprint.weightsSha256), leaf(session.samples.path), shortened(session.samples.sha256), run.settings.decision.text(), output, run.id(), run.createdUtc);
}

std::string hardwareCondition(const RunRecord& run) {
  switch (run.settings.mode) {
    case session::Mode::emulated: return "Emulated on a CPU: a GPU sums in another order and may decide otherwise where a margin is as small as that.";
    case session::Mode::native: return "Run by LibTorch's CPU kernels: other hardware may decide otherwise.";
    case session::Mode::recorded: break;
  }
  return fmt::format("Recorded on {} with PyTorch {}: other hardware or another PyTorch may decide otherwise.", run.settings.device, run.libtorchVersion);
}

std::vector<std::string> conditionsOf(const Session& session, const RunRecord& run, const FlipFacts& facts, double below) {
  const bool decides = run.settings.decision.decides();
  const bool hasRate = decides && run.settings.onlySamples.empty();
  const std::int64_t tried = session.candidatesTried();
  std::vector<std::string> conditions{
      hasRate ? "The interval takes the samples as independent draws from the inputs the model will meet; of other inputs or weights nothing is claimed."
              : "Nothing is claimed of other inputs or weights.",
      hardwareCondition(run),
      hasRate ? kindsCondition(session) : "",
      decides && std::isfinite(below) && run.settings.decision.errorsToFlip() > 0 ? "The margin limit was chosen with the results in sight: what is counted below it carries no interval." : "",
      noiseCondition(run, facts), tieCondition(run, facts), accumulationCondition(run), criteriaCondition(session, run),
      tried > 1 ? fmt::format("{} candidates were tried on these samples: the best of several looks better than it is.", tried) : "", files(session, run)};
  std::erase(conditions, std::string());
  return conditions;
}

std::string incomplete(const Session& session, const RunRecord& run, const FlipFacts& facts) {
  const std::string flips = run.settings.decision.decides() && facts.decided > 0 ? fmt::format(" So far {} of {} flipped.", facts.flips, counted(facts.decided, "sample")) : "";
  return fmt::format("Not complete ({}, {} of {} compared): no statement.{}", session::name(run.status), groupedInteger(run.samplesComplete), counted(askedSamples(session, run), "sample"), flips);
}

}  // namespace

std::string FlipStatement::text() const {
  std::string all = sentence;
  for (const std::string& condition : conditions) all += "\n" + condition;
  return all;
}

FlipStatement flipStatement(const Session& session, const RunRecord& run, double marginBelow) {
  if (const std::string why = obstacle(run); !why.empty()) return {false, why, {}};
  const FlipFacts facts = flipFacts(session, run);
  if (run.status != session::RunStatus::ok) return {false, incomplete(session, run, facts), {}};
  const bool decides = run.settings.decision.decides();
  if (decides && facts.decided == 0) return {false, "No sample has a decision in both runs: nothing was compared, so no statement.", {}};
  if (!decides && (!run.regression || run.regression->elements == 0)) return {false, "No value is finite in both runs: nothing was compared, so no statement.", {}};
  return {true, decides ? decisionSentence(session, run, facts, marginBelow) : regressionSentence(run), conditionsOf(session, run, facts, marginBelow)};
}

}  // namespace ulpscope::report
