#include "core/analysis/training_verdict.h"

#include "core/base/hashing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::analysis {
namespace {

using session::CriterionResult;
using session::JudgedAs;
using session::Trajectory;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

CriterionResult notEvaluated(const std::string& id, double limit, const std::string& why) { return {id, kNan, limit, kNan, "", JudgedAs::notEvaluated, why}; }

bool everyLineHas(const Trajectory& run, const std::string& key) {
  return std::all_of(run.ledger.begin(), run.ledger.end(), [&](const session::LedgerLine& line) { return line.has(key); });
}

// NaN fails: a limit on it was asked for.
CriterionResult atMost(const std::string& id, double measured, double limit) {
  const double ratio = limit > 0 ? measured / limit : measured > 0 ? std::numeric_limits<double>::infinity() : 0;
  return {id, measured, limit, ratio, "", measured <= limit ? JudgedAs::pass : JudgedAs::fail, ""};
}

CriterionResult skipRate(const Trajectory& run, double limit) {
  if (run.ledger.empty()) return notEvaluated("skip_rate", limit, "no step was done");
  if (!everyLineHas(run, "skipped")) return notEvaluated("skip_rate", limit, "not of every step it was recorded whether it was skipped");
  return atMost("skip_rate", static_cast<double>(run.mostSkipped()) / static_cast<double>(run.countedSteps()), limit);
}

CriterionResult appliedUpdates(const Trajectory& run, std::int64_t limit) {
  if (!everyLineHas(run, "applied")) return notEvaluated("applied_updates", static_cast<double>(limit), "not of every step it was recorded whether it was applied");
  const auto measured = static_cast<double>(run.fewestUpdates()), least = static_cast<double>(limit);
  const double ratio = measured > 0 ? least / measured : least > 0 ? std::numeric_limits<double>::infinity() : 0;
  return {"applied_updates", measured, least, ratio, "", measured >= least ? JudgedAs::pass : JudgedAs::fail, ""};
}

CriterionResult lossIncrease(const Trajectory& run, const Trajectory* fp32, double limit) {
  if (!fp32 || fp32->ledger.empty() || run.ledger.empty()) return notEvaluated("final_loss_increase", limit, "there is no FP32 trajectory beside it");
  if (!run.recordsLast("loss")) return notEvaluated("final_loss_increase", limit, "the last loss was not recorded");
  if (!std::isfinite(fp32->finalLoss())) return notEvaluated("final_loss_increase", limit, "FP32's own loss is not finite");
  return atMost("final_loss_increase", run.finalLoss() - fp32->finalLoss(), limit);
}

CriterionResult accuracyDrop(const Trajectory& run, const Trajectory* fp32, double limit) {
  if (!fp32 || !fp32->accuracy || !run.accuracy) return notEvaluated("accuracy_drop", limit, "the loss has no classes, or there is no FP32 trajectory");
  return atMost("accuracy_drop", *fp32->accuracy - *run.accuracy, limit);
}

JudgedAs overall(const session::Verdict& verdict) {
  const auto any = [&](JudgedAs status) { return std::any_of(verdict.criteria.begin(), verdict.criteria.end(), [&](const auto& c) { return c.status == status; }); };
  if (any(JudgedAs::fail)) return JudgedAs::fail;
  return any(JudgedAs::notEvaluated) ? JudgedAs::notEvaluated : JudgedAs::pass;
}

// What makes a verdict on AMP impossible, whatever was measured.
std::string whyNotJudged(const session::Training& training, const Trajectory& run, const Trajectory* fp32) {
  if (training.cancelled) return "the training was cancelled";
  if (hasAlarm(run, "nothing_autocast")) return "nothing was autocast";
  if (run.failed && fp32 && fp32->failed) return "FP32 could not run either: " + run.error;
  if (hasAlarm(run, "fp32_nonfinite")) return "FP32 itself is not finite";
  return "";
}

std::string changesText(const session::Training& training) {
  std::string text;
  for (const session::ResumeRecord& resume : training.resumes)
    if (!resume.change.empty()) text += (text.empty() ? "with the experimental change '" : ", '") + resume.change + "' from step " + std::to_string(resume.step);
  return text;
}

}  // namespace

bool hasAlarm(const Trajectory& run, const std::string& id) {
  return std::any_of(run.alarms.begin(), run.alarms.end(), [&](const session::Alarm& alarm) { return alarm.id == id; });
}

std::optional<session::Verdict> judgeTraining(const session::Recipe& recipe, const session::Training& training) {
  const session::TrainingCriteria& criteria = recipe.criteria;
  if (!criteria.any()) return std::nullopt;
  session::Verdict verdict;
  verdict.sha256 = base::sha256(session::canonicalText(criteria));
  const Trajectory* run = training.recorded && !training.runs.empty() ? &training.runs.front() : training.run("recipe");
  if (!run) {
    verdict.reason = "nothing was trained";
    return verdict;
  }
  const Trajectory* fp32 = training.run("fp32");
  if (criteria.maxSkipRate) verdict.criteria.push_back(skipRate(*run, *criteria.maxSkipRate));
  if (criteria.minAppliedUpdates) verdict.criteria.push_back(appliedUpdates(*run, *criteria.minAppliedUpdates));
  if (criteria.maxFinalLossIncrease) verdict.criteria.push_back(lossIncrease(*run, fp32, *criteria.maxFinalLossIncrease));
  if (criteria.maxAccuracyDrop) verdict.criteria.push_back(accuracyDrop(*run, fp32, *criteria.maxAccuracyDrop));
  if (criteria.noAlarm) verdict.criteria.push_back(atMost("alarms", static_cast<double>(run->alarms.size()), 0));
  verdict.status = overall(verdict);
  if (const std::string why = whyNotJudged(training, *run, fp32); !why.empty()) {
    verdict.reason = why;
    verdict.status = JudgedAs::notEvaluated;
  } else if (!run->error.empty()) {
    verdict.reason = "the training ended early: " + run->error;
    verdict.status = JudgedAs::fail;
  } else {
    verdict.reason = changesText(training);
  }
  return verdict;
}

}  // namespace ulpscope::analysis
