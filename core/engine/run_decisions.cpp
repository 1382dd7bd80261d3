#include "core/engine/run_decisions.h"

#include "core/analysis/decisions.h"
#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

// The named one; else the first of the kind that the rule is made for; else the only one.
Result<const OutputCollector::Output*> chosenOutput(const session::RunSettings& settings, const OutputCollector& outputs) {
  const std::string decision = "--decision " + settings.decision.text();
  std::vector<std::string> names;
  const OutputCollector::Output* chosen = nullptr;
  for (const auto& output : outputs.outputs()) {
    names.push_back(output.name);
    const bool wanted = settings.decisionOutput.empty() ? readsDtype(settings.decision, output.candidateDtype) : output.name == settings.decisionOutput;
    if (wanted && !chosen) chosen = &output;
  }
  if (names.empty()) return Error{ErrorKind::usage, "the model returns no tensor to decide by", decision, "run it without --decision"};
  const bool exact = settings.decision.kind == session::DecisionRule::Kind::exact;
  if (!chosen && settings.decisionOutput.empty() && exact) chosen = &outputs.outputs().front();
  if (!chosen && settings.decisionOutput.empty())
    return Error{ErrorKind::usage, "no output has floating-point scores: " + base::quotedChoice(names), decision, "use --decision exact for whole numbers, or run it without --decision"};
  if (!chosen)
    return Error{ErrorKind::usage, "is no output of the model", "--decision-output " + settings.decisionOutput, "it has " + base::quotedChoice(names)};
  return chosen;
}

// How many classes a decision chooses from; 0: it has none, or they cannot be counted, which is told where the decisions are read.
std::int64_t classCount(const session::DecisionRule& rule, const OutputCollector::Output& output) {
  if (rule.kind == session::DecisionRule::Kind::threshold) return output.reference.empty() ? 0 : 2;
  if (!rule.hasClasses() || output.reference.empty() || output.axis.kind != session::SampleAxis::Kind::plain) return 0;
  const at::Tensor& scores = output.reference.front();
  const std::int64_t dim = rule.dim.value_or(-1), at = dim < 0 ? dim + scores.dim() : dim;
  return at < 0 || at >= scores.dim() || at == output.axis.axis ? 0 : scores.size(at);
}

// Labels are held against decisions where each sample has one.
bool hasOneDecision(const session::DecisionRule& rule, const OutputCollector::Output& output, std::int64_t classes) {
  return output.reference.front().numel() == output.batchSizes.front() * (rule.hasClasses() ? classes : 1);
}

// A flip is not AMP's where FP32 in another order decides otherwise as well, or moves a score so far that it could.
void markNoise(session::RunRecord& run, const OutputCollector::Output& output, const at::Tensor& reference, const at::Tensor& other,
               const session::SampleSet& samples) {
  if (!run.noiseFloor || !other.defined() || other.sizes() != reference.sizes()) return;
  const HeldView a = viewOf(reference);
  const HeldView b = viewOf(other);
  // Ties are refused where the runs are judged; here the lowest index tells.
  const session::DecisionRule& rule = run.settings.decision;
  const auto noise = analysis::decide({a.view, b.view, output.axis.axis}, rule, samples, session::TieRule::first);
  if (!noise) return;
  std::set<std::int64_t> flipped;
  for (const session::Flip& flip : noise->flips) {
    flipped.insert(flip.sample);
    run.noiseFloor->flips.push_back(flip.sampleId);
  }
  const auto moved = divergenceOfSamples(reference, other, output.axis, reference.size(output.axis.axis), run.settings.autocast);
  for (session::Flip& flip : run.flips) {
    const double error = moved[static_cast<std::size_t>(flip.sample)].maxAbsOrNan();
    flip.withinNoiseFloor = flipped.count(flip.sample) > 0 || (error > 0 && flip.referenceMargin <= rule.errorsToFlip() * error);
  }
}

void nameFirstSites(RunOutcome& outcome) {
  const std::int64_t samples = outcome.metrics.samples();
  for (session::Flip& flip : outcome.run.flips)
    for (std::int64_t site = 0; site < outcome.metrics.sites() && flip.firstSiteOverTolerance < 0; ++site)
      if (outcome.metrics.flags[static_cast<std::size_t>(site * samples + flip.sample)] & storage::kCellOverTolerance) flip.firstSiteOverTolerance = site;
}

}  // namespace

bool readsDtype(const session::DecisionRule& rule, base::DType dtype) {
  return rule.kind == session::DecisionRule::Kind::exact ? !base::isInexact(dtype) : base::isFloating(dtype);
}

base::Status checkClasses(const session::RunSettings& settings, const OutputCollector& outputs, const session::SampleSet& samples) {
  const session::DecisionRule& rule = settings.decision;
  if (rule.kind == session::DecisionRule::Kind::none) return base::success();
  const auto chosen = chosenOutput(settings, outputs);
  const std::int64_t classes = chosen ? classCount(rule, *chosen.value()) : 0;
  if (classes == 0) return base::success();
  const OutputCollector::Output& output = *chosen.value();
  const std::string scores = fmt::format("output '{}'", output.name);
  const auto names = static_cast<std::int64_t>(samples.classNames.size());
  if (rule.hasClasses() && names > 0 && names < classes)
    return Error{ErrorKind::input, fmt::format("holds {}, and {} scores {} classes", base::counted(names, "class name"), scores, base::groupedInteger(classes)),
                 samples.classNamesPath.empty() ? samples.path : samples.classNamesPath, "give every class a name, in the order of the scores"};
  const auto& labels = samples.labels;
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](std::int64_t label) { return label < 0 || label >= classes; });
  if (wrong == labels.end() || !hasOneDecision(rule, output, classes)) return base::success();
  return Error{ErrorKind::input,
               fmt::format("label {} of sample '{}' is none of the {} classes (0 to {}) that --decision {} reads off {}", *wrong,
                           samples.ids[static_cast<std::size_t>(wrong - labels.begin())], base::groupedInteger(classes), classes - 1, rule.text(), scores),
               samples.labelsPath.empty() ? samples.path : samples.labelsPath,
               "label every sample with one of them or leave the sample out; an ignore_index such as -100 means something to a loss only"};
}

base::Result<analysis::DecisionResult> flipsOf(const session::RunSettings& settings, const OutputCollector& outputs, const session::SampleSet& samples) {
  if (settings.decision.kind == session::DecisionRule::Kind::none) return Error{ErrorKind::usage, "there is no decision", "--decision none", ""};
  const auto chosen = chosenOutput(settings, outputs);
  if (!chosen) return chosen.error();
  const OutputCollector::Output& output = *chosen.value();
  const at::Tensor a = output.axis.kind == session::SampleAxis::Kind::plain ? output.joinedReference() : at::Tensor();
  const bool alone = settings.batchSize == 1 || samples.ids.size() == 1;  // each batch is one sample already
  if (!a.defined())
    return Error{ErrorKind::run, "no axis of it counts the samples one by one, so no decision can be read", "output '" + output.name + "'",
                 alone ? "choose another --decision-output" : "choose another --decision-output, or try --batch-size 1"};
  const HeldView reference = viewOf(a);
  const HeldView candidate = viewOf(output.joinedCandidate());
  return analysis::decide({reference.view, candidate.view, output.axis.axis}, settings.decision, samples, settings.tie);
}

base::Status decide(RunOutcome& outcome, const OutputCollector& outputs, const session::SampleSet& samples, const NoiseFloorRun* floor) {
  session::RunRecord& run = outcome.run;
  const session::DecisionRule& rule = run.settings.decision;
  if (rule.kind == session::DecisionRule::Kind::none) return base::success();
  if (run.candidateError) return base::success();  // nothing to decide between
  const auto chosen = chosenOutput(run.settings, outputs);
  if (!chosen) return chosen.error();
  const OutputCollector::Output& output = *chosen.value();
  if (!output.comparable) {
    run.warnings.push_back("output '" + output.name + "' has another shape in the other run, so no decision can be compared");
    return base::success();
  }
  auto result = flipsOf(run.settings, outputs, samples);
  if (!result) return result.error();
  if (outputs.outputs().size() > 1) run.settings.decisionOutput = output.name;  // which of them, is part of the record
  run.flips = std::move(result->flips);
  run.decisions = std::move(result->decisions);
  run.noDecision = std::move(result->noDecision);
  run.quality = result->quality;
  run.regression = std::move(result->regression);
  const at::Tensor a = output.joinedReference();
  if (!result->referenceNoDecision.empty())
    run.warnings.push_back(fmt::format("{} with NaN scores in FP32 itself: no decision to compare", base::counted(static_cast<std::int64_t>(result->referenceNoDecision.size()), "sample")));
  if (floor) markNoise(run, output, a, floor->output(output.name), samples);
  nameFirstSites(outcome);
  return base::success();
}

}  // namespace ulpscope::engine
