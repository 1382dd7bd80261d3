#include "core/report/training_text.h"

#include "core/analysis/isolation.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::report {
namespace {

using base::counted;
using base::shortNumber;
using session::Trajectory;
using session::Training;

constexpr std::size_t kMostShown = 5;
constexpr const char* kNotRecorded = "not recorded";

std::string updatesText(const Trajectory& run) {
  const std::string steps = counted(std::max(run.steps, run.countedSteps()), "step");
  std::string text = run.ledger.empty() || run.recordsAny("applied") ? fmt::format("{} of {} applied", run.appliedUpdates, steps) : steps + ", which of them were applied is not recorded";
  if (run.schedulerSteps > 0) text += fmt::format(", {} of the scheduler", counted(run.schedulerSteps, "step"));
  return text;
}

// The same parameter's in FP32, to hold it against.
std::string zeroInFp32(const Training& training, const std::string& name) {
  const Trajectory* fp32 = training.run("fp32");
  if (!fp32) return "";
  for (const auto& parameter : fp32->parameters)
    if (parameter.name == name) return ", " + shortNumber(parameter.zeroFraction()) + " in FP32";
  return "";
}

// Of a recorded loop there is no parameter of its own to name.
std::string recordedZeroText(const Trajectory& run) {
  const session::LedgerLine* worst = nullptr;
  for (const session::LedgerLine& line : run.ledger)
    if (line.has("zero_share") && (!worst || line.zeroShare > worst->zeroShare)) worst = &line;
  return worst ? fmt::format("at most {} of the elements ({} in step {})", shortNumber(worst->zeroShare), worst->optimizer, worst->step) : kNotRecorded;
}

std::string zeroText(const Training& training) {
  const Trajectory& run = training.runs.front();
  if (training.recorded) return recordedZeroText(run);
  const session::ParameterGradients* worst = nullptr;
  std::vector<std::string> absent;
  for (const auto& parameter : run.parameters) {
    if (parameter.optimizer.empty()) continue;
    if (parameter.absent) absent.push_back(parameter.name);
    else if (!worst || parameter.zeroFraction() > worst->zeroFraction()) worst = &parameter;
  }
  std::string text = worst ? fmt::format("at most {} ({}{})", shortNumber(worst->zeroFraction()), worst->name, zeroInFp32(training, worst->name)) : "no gradient";
  if (!absent.empty()) text += fmt::format("; no gradient ever reached {}{}", absent.front(), absent.size() > 1 ? fmt::format(" and {} more", absent.size() - 1) : "");
  return text;
}

template <typename T, typename TextOf>
std::string listText(const std::string& title, const std::vector<T>& items, const TextOf& textOf) {
  if (items.empty()) return "";
  std::string text = title + "\n";
  for (std::size_t i = 0; i < std::min(items.size(), kMostShown); ++i) text += "  " + textOf(items[i]) + "\n";
  if (items.size() > kMostShown) text += fmt::format("  ... and {} more\n", items.size() - kMostShown);
  return text;
}

std::string row(const Trajectory& run) {
  return fmt::format("  {:<30} {:>8} {:>8} {:>11} {:>11} {:>9} {}\n", run.name, run.mostSkipped(), run.appliedUpdates, shortNumber(run.finalLoss()), shortNumber(run.finalScale),
                     run.accuracy ? fmt::format("{:.2f} %", 100 * *run.accuracy) : "-", run.error.empty() ? (run.alarms.empty() ? "" : counted(static_cast<std::int64_t>(run.alarms.size()), "alarm")) : "ended early");
}

// How the training came here, and where it can be taken up again.
std::string historyText(const Training& training) {
  std::string text;
  for (const session::ResumeRecord& resume : training.resumes) {
    text += fmt::format("{:<12} after {}{}", "Resumed", counted(resume.step, "step"), resume.checkpoint.empty() ? "" : " from " + resume.checkpoint);
    if (!resume.change.empty()) text += ", with the experimental change '" + resume.change + "'";
    text += "\n";
    for (const session::RecipeDifference& difference : resume.differences) text += "             " + difference.text() + "\n";
  }
  if (!training.checkpoints.empty()) {
    const auto bad = std::count_if(training.checkpoints.begin(), training.checkpoints.end(), [](const session::CheckpointEntry& entry) { return !entry.good; });
    text += fmt::format("{:<12} {}, the last after {} ({})", "Checkpoints", training.checkpoints.size(), counted(training.checkpoints.back().step, "step"), training.checkpoints.back().file);
    text += (bad > 0 ? fmt::format("; {} hold values that are not finite", bad) : "") + "\n";
  }
  if (const auto& back = training.rollback)
    text += fmt::format("{:<12} from step {} to {}: {} ({}); the case is {}, to --replay; --compare the checkpoint before you --resume it\n", "WENT BACK", back->step, back->checkpoint, back->text, back->rule, back->caseFile);
  return text;
}

std::string tableText(const Training& training) {
  if (training.runs.size() < 2) return "";
  std::string text = fmt::format("TRAJECTORIES\n  {:<30} {:>8} {:>8} {:>11} {:>11} {:>9}\n", "", "skipped", "applied", "final loss", "final scale", "accuracy");
  for (const Trajectory& run : training.runs) text += row(run);
  if (const std::string which = analysis::isolationText(training); !which.empty()) text += "  => " + which + "\n";
  return text;
}

std::string verdictLines(const Training& training) {
  if (!training.verdict) return "";
  std::string text = "VERDICT " + session::name(training.verdict->status) + (training.verdict->reason.empty() ? "" : ": " + training.verdict->reason) + "\n";
  for (const auto& c : training.verdict->criteria)
    text += fmt::format("  {:<14} {:<22} measured {}, limit {}{}\n", session::name(c.status), c.id, shortNumber(c.measured), shortNumber(c.limit), c.note.empty() ? "" : " (" + c.note + ")");
  return text;
}

// One line for what is the same in several steps: "steps 0-12, 15: ...", in the order of its first.
template <typename T, typename TextOf>
std::vector<std::string> grouped(const std::vector<T>& violations, const TextOf& textOf) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> groups;
  for (const T& violation : violations) {
    const std::string text = textOf(violation);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) { return known.first == text; });
    if (group == groups.end()) group = groups.insert(groups.end(), {text, {}});
    group->second.push_back(violation.step);
  }
  std::vector<std::string> lines;
  for (auto& [text, steps] : groups) {
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    lines.push_back(fmt::format("{} {}: {}", steps.size() == 1 ? "step" : "steps", stepRanges(steps), text));
  }
  return lines;
}

std::string headText(const Training& training, const Trajectory& run) {
  const auto& loop = training.recorded;
  const std::string autocast = loop ? loop->setting("autocast") : training.policyTable;
  std::string text = fmt::format("{:<12} autocast {}, scaling {}\n", "Training", run.autocast ? "on" + (autocast.empty() || autocast == "on" ? "" : " (" + autocast + ")") : "off", run.scaling ? "on" : "off");
  if (!loop) return text;
  return text + fmt::format("{:<12} {}{}: {}\n", "Recorded", loop->log, training.libtorchVersion.empty() ? "" : ", PyTorch " + training.libtorchVersion, session::cannotTrainAgain(*loop));
}

std::string skippedOrNone(const Trajectory& run) {
  if (!run.ledger.empty() && !run.recordsAny("skipped")) return kNotRecorded;
  const std::string skipped = skippedText(run);
  return skipped.empty() ? "none" : "steps " + skipped;
}

std::string findingsOf(const Trajectory& run) {
  std::string text = listText("ORDER", grouped(run.violations, [](const session::Violation& v) {
                                return fmt::format("{} ({}{}): {}", v.rule, v.event, v.optimizer.empty() ? "" : " of " + v.optimizer, v.text);
                              }), [](const std::string& line) { return line; });
  text += listText("ALARMS", run.alarms, [](const session::Alarm& a) { return fmt::format("step {}: {} ({})", a.step, a.text, a.id); });
  return text + listText("POISONED BUFFERS", run.poisonedBuffers, [](const std::string& buffer) { return buffer; });
}

}  // namespace

std::string lossText(const Trajectory& run) {
  if (!run.recordsAny("loss")) return kNotRecorded;
  const auto first = std::find_if(run.ledger.begin(), run.ledger.end(), [](const session::LedgerLine& line) { return line.has("loss"); });
  return fmt::format("{} to {}", shortNumber(first->loss), run.recordsLast("loss") ? shortNumber(run.finalLoss()) : kNotRecorded);
}

std::string stepRanges(const std::vector<std::int64_t>& steps) {
  std::string text;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i;
    while (end + 1 < steps.size() && steps[end + 1] == steps[end] + 1) ++end;
    text += text.empty() ? "" : ", ";
    text += end == i ? std::to_string(steps[i]) : fmt::format("{}-{}", steps[i], steps[end]);
    i = end + 1;
  }
  return text;
}

std::string skippedText(const Trajectory& run) {
  const auto byOptimizer = run.skipped();
  std::string text;
  for (const auto& [optimizer, steps] : byOptimizer) {
    if (steps.empty()) continue;
    text += text.empty() ? "" : "; ";
    text += byOptimizer.size() > 1 ? optimizer + ": " + stepRanges(steps) : stepRanges(steps);
  }
  return text;
}

std::string firstNonfiniteText(const session::FirstNonfinite& first) {
  std::string text;
  if (!first.op.empty()) text = fmt::format("{} in {}{}: ", first.op, first.modulePath.empty() ? "(root)" : first.modulePath, first.source.empty() ? "" : " (" + first.source + ")");
  if (first.ofParameter) return text + first.kind + " in the gradient of its parameter " + first.parameter + ", whose own output has a finite one";
  if (first.stage == "input" && !first.source.empty()) return first.kind + " in " + first.source;
  text += first.stage == "gradient" ? first.kind + " in the gradient" + (first.op.empty() ? "" : " of its output") : first.kind + " in the " + first.stage;
  if (!first.makerOp.empty())
    text += fmt::format(", made in the backward of {} in {}{}", first.makerOp, first.makerModule.empty() ? "(root)" : first.makerModule, first.makerSource.empty() ? "" : " (" + first.makerSource + ")");
  if (first.stage == "gradient" && !first.parameter.empty()) return text + "; first parameter " + first.parameter;
  return first.parameter.empty() ? text : text + " " + first.parameter;
}

std::string orderText(const std::vector<analysis::OrderViolation>& violations) {
  if (violations.empty()) return "The order is right.\n";
  std::string text;
  std::vector<analysis::OrderViolation> judged;
  for (const analysis::OrderViolation& v : violations)  // what has nothing to judge has no step either
    if (v.rule == analysis::OrderRule::nothingToJudge) text += "Nothing to judge: " + analysis::explanation(v.rule) + "\n";
    else judged.push_back(v);
  for (const std::string& line : grouped(judged, [](const analysis::OrderViolation& v) {
         return fmt::format("{}{}{}: {}: {}", v.event, v.optimizer.empty() ? "" : " of " + v.optimizer, v.run.empty() ? "" : " in " + v.run, analysis::name(v.rule), analysis::explanation(v.rule));
       }))
    text += line + "\n";
  return text;
}

std::string trainingSummary(const Training& training) {
  if (training.runs.empty()) return "Nothing was trained.\n";
  const Trajectory& run = training.runs.front();
  std::string text = headText(training, run);
  text += fmt::format("{:<12} {}\n{:<12} {}\n", "Updates", updatesText(run), "Skipped", skippedOrNone(run));
  if (const std::string settled = analysis::settledText(run); !settled.empty()) text += fmt::format("{:<12} {}\n", "", settled);
  if (run.firstNonfinite) text += fmt::format("{:<12} step {}: {}\n", "Non-finite", run.firstNonfinite->step, firstNonfiniteText(*run.firstNonfinite));
  if (run.scaling) text += fmt::format("{:<12} {}\n", "Scale", run.recordsLast("scale_after") ? shortNumber(run.finalScale) + " at the end" : kNotRecorded);
  if (!run.ledger.empty()) text += fmt::format("{:<12} {}\n", "Loss", lossText(run));
  text += fmt::format("{:<12} {}\n", "Zero grads", zeroText(training));
  if (!run.error.empty()) text += fmt::format("{:<12} after {}: {}\n", "ENDED", counted(run.steps, "step"), run.error);
  text += historyText(training);
  for (const std::string& warning : training.warnings) text += "warning: " + warning + "\n";
  return text + findingsOf(run) + tableText(training) + verdictLines(training);
}

}  // namespace ulpscope::report
