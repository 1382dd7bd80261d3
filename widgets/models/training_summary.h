// What is said of a training in a line: its verdict, its alarms, its steps, where it was taken up again and back.
#pragma once

#include "core/session/training.h"

#include <QString>

#include <optional>

namespace ulpscope::models {

// "autocast on, scaling off"; of other names with what is on: "recipe (autocast on, scaling on)".
QString trajectoryTitle(const session::Trajectory& run);
// Steps that the recipe asks for; empty: it cannot be read.
std::optional<std::int64_t> askedSteps(const session::Training& training);
// "56 of 60 steps applied  ·  skipped: 1, 3, 35, 50  ·  loss 0.25 to 0.235  ·  scale 65,536 at the end"; of one that ended before the steps asked
// for: "20 of 60 steps done, 19 applied".
QString trajectorySummary(const session::Trajectory& run, std::optional<std::int64_t> asked);
// "3 alarms, the worst: the scale grew to infinity (step 4)  ·  12 times against the order, first clip_before_unscale (step 0)"; empty: none.
QString alarmsText(const session::Trajectory& run);
// "Verdict: fail: skip rate 0.2, limit 0.05; ..." with the criteria that failed, or else all of them; empty: the recipe has no criteria.
QString trainingVerdictText(const session::Training& training);
// "loop.jsonl was recorded from a loop in Python on cuda:0; no engine can train it again." "Resumed after 40 steps with the change 'bf16 from here'. Rolled back in step 57 to the checkpoint after 40 steps: loss is NaN"; empty: none of these.
QString historyText(const session::Training& training);
QString scaleText(double scale);  // "65,536", "1.70e+38"

// What the step strip says of a training.
struct TrainingStanding {
  QString name;      // "training 1: 48 of 60 steps applied"
  QString criteria;  // "fail", "none in the recipe"
  QString finding;   // "3 alarms, 12 steps skipped"
  QString verdict;   // as trainingVerdictText()
  session::JudgedAs judged = session::JudgedAs::notEvaluated;
  bool isBad = false;
};
TrainingStanding standingOf(const session::Training& training);

}  // namespace ulpscope::models
