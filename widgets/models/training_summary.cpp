#include "widgets/models/training_summary.h"

#include "core/base/number_text.h"
#include "core/report/training_text.h"
#include "widgets/models/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace ulpscope::models {
namespace {

using session::Trajectory;

constexpr double kMostGrouped = 1e15;  // longer numbers are no longer read by their digits
const QString kSeparator = QStringLiteral("  ·  ");

// What makes all others worthless comes first; an id that is not among them stands between.
constexpr std::array kWorstFirst{"forward_nonfinite", "scale_infinite", "buffers_poisoned", "gradients_flushed_to_zero", "no_update", "", "update_norm_far", "scale_below_1", "skips_in_a_row"};

std::size_t rankOf(const session::Alarm& alarm) {
  const auto known = std::find(kWorstFirst.begin(), kWorstFirst.end(), alarm.id);
  const auto other = std::find(kWorstFirst.begin(), kWorstFirst.end(), std::string_view());
  return static_cast<std::size_t>((known == kWorstFirst.end() ? other : known) - kWorstFirst.begin());
}

QString counted(std::size_t count, const char* noun) { return qt(base::counted(static_cast<std::int64_t>(count), noun)); }

QString onOff(bool isOn) { return isOn ? QStringLiteral("on") : QStringLiteral("off"); }

QString criterionText(const session::CriterionResult& criterion) {
  return QStringLiteral("%1 %2, limit %3").arg(qt(criterion.id).replace(u'_', u' '), qt(base::shortNumber(criterion.measured)), qt(base::shortNumber(criterion.limit)));
}

QString stepsText(const Trajectory& run, std::optional<std::int64_t> asked) {
  if (!run.ledger.empty() && !run.recordsAny("applied")) return QStringLiteral("%1, applied or not is not recorded").arg(qt(base::counted(run.steps, "step")));
  const QString applied = qt(base::groupedInteger(run.appliedUpdates));
  if (!asked || *asked <= run.steps) return QStringLiteral("%1 of %2 applied").arg(applied, qt(base::counted(run.steps, "step")));
  return QStringLiteral("%1 of %2 done, %3 applied").arg(qt(base::groupedInteger(run.steps)), qt(base::counted(*asked, "step")), applied);
}

}  // namespace

QString scaleText(double scale) { return qt(scale >= 1 && scale < kMostGrouped ? base::groupedNumber(scale) : base::shortNumber(scale)); }

QString trajectoryTitle(const Trajectory& run) {
  const QString name = qt(run.name);
  if (name.contains(QStringLiteral("autocast"))) return name;
  return QStringLiteral("%1 (autocast %2, scaling %3)").arg(name, onOff(run.autocast), onOff(run.scaling));
}

std::optional<std::int64_t> askedSteps(const session::Training& training) {
  const nlohmann::json json = nlohmann::json::parse(training.recipe, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  const base::Result<session::Recipe> recipe = session::recipeFromJson(json);
  return recipe.ok() ? std::optional(recipe->steps) : std::nullopt;
}

QString trajectorySummary(const Trajectory& run, std::optional<std::int64_t> asked) {
  QStringList parts{stepsText(run, asked)};
  const QString skipped = qt(report::skippedText(run));
  if (run.ledger.empty() || run.recordsAny("skipped"))
    parts << (skipped.isEmpty() ? QStringLiteral("none skipped") : QStringLiteral("skipped: %1").arg(skipped));
  if (!run.ledger.empty()) parts << QStringLiteral("loss %1").arg(qt(report::lossText(run)));
  if (run.scaling) parts << (run.recordsLast("scale_after") ? QStringLiteral("scale %1 at the end").arg(scaleText(run.finalScale)) : QStringLiteral("scale not recorded"));
  if (!run.error.empty()) parts << QStringLiteral("ended early: %1").arg(qt(run.error));
  return parts.join(kSeparator);
}

QString alarmsText(const Trajectory& run) {
  QStringList parts;
  const auto worst = std::min_element(run.alarms.begin(), run.alarms.end(), [](const auto& a, const auto& b) { return rankOf(a) < rankOf(b); });
  if (worst != run.alarms.end())
    parts << QStringLiteral("%1%2: %3 (step %4)").arg(counted(run.alarms.size(), "alarm"), run.alarms.size() > 1 ? QStringLiteral(", the worst") : QString(), qt(worst->text)).arg(worst->step);
  if (!run.violations.empty())
    parts << QStringLiteral("%1 against the order, first %2 (step %3)").arg(counted(run.violations.size(), "time"), qt(run.violations.front().rule)).arg(run.violations.front().step);
  return parts.join(kSeparator);
}

QString trainingVerdictText(const session::Training& training) {
  if (!training.verdict) return {};
  const session::Verdict& verdict = *training.verdict;
  const bool hasFailed = std::any_of(verdict.criteria.begin(), verdict.criteria.end(), [](const auto& c) { return c.status != session::JudgedAs::pass; });
  QStringList criteria;
  for (const session::CriterionResult& c : verdict.criteria)
    if (!hasFailed || c.status != session::JudgedAs::pass) criteria << criterionText(c);
  QString text = QStringLiteral("Verdict: %1").arg(qt(session::name(verdict.status)));
  if (!verdict.reason.empty()) text += QStringLiteral(": ") + qt(verdict.reason);
  return criteria.isEmpty() ? text : QStringLiteral("%1: %2").arg(text, criteria.join(QStringLiteral("; ")));
}

QString historyText(const session::Training& training) {
  QStringList parts;
  if (training.recorded) parts << QStringLiteral("%1 was %2.").arg(qt(training.recorded->log), qt(session::cannotTrainAgain(*training.recorded)));
  for (const session::ResumeRecord& resume : training.resumes)
    parts << QStringLiteral("Resumed after %1%2.").arg(qt(base::counted(resume.step, "step")), resume.change.empty() ? QString() : QStringLiteral(" with the change '%1'").arg(qt(resume.change)));
  if (const auto& back = training.rollback)
    parts << QStringLiteral("Rolled back in step %1 to the checkpoint after %2: %3.").arg(back->step).arg(qt(base::counted(back->toStep, "step")), qt(back->text));
  return parts.join(u' ');
}

TrainingStanding standingOf(const session::Training& training) {
  TrainingStanding standing;
  standing.verdict = trainingVerdictText(training);
  standing.judged = training.verdict ? training.verdict->status : session::JudgedAs::notEvaluated;
  standing.criteria = training.verdict ? qt(session::name(training.verdict->status)) : training.recorded ? QStringLiteral("none, it was recorded") : QStringLiteral("none in the recipe");
  if (training.runs.empty()) return standing;
  const Trajectory& run = training.runs.front();
  standing.name = (training.number > 0 ? QStringLiteral("training %1: ").arg(training.number) : QString()) + stepsText(run, askedSteps(training));
  QStringList found;
  if (!run.alarms.empty()) found << counted(run.alarms.size(), "alarm");
  if (!run.violations.empty()) found << QStringLiteral("%1 against the order").arg(counted(run.violations.size(), "time"));
  if (run.mostSkipped() > 0) found << QStringLiteral("%1 skipped").arg(counted(run.mostSkipped(), "step"));
  if (training.rollback) found << QStringLiteral("rolled back");
  if (!run.error.empty()) found << QStringLiteral("ended early");
  standing.isBad = !found.isEmpty();
  const bool knowsSkips = run.ledger.empty() || run.recordsAny("skipped");
  standing.finding = found.isEmpty() ? (knowsSkips ? QStringLiteral("no alarm, none skipped") : QStringLiteral("no alarm")) : found.join(QStringLiteral(", "));
  return standing;
}

}  // namespace ulpscope::models
