#include "core/analysis/isolation.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ulpscope::analysis {
namespace {

using session::Trajectory;
using session::Training;

// The cell without FP32 regions: a trajectory of its own where the recipe has some.
const Trajectory* cell(const Training& training, bool autocast, bool scaling) {
  const Trajectory* found = nullptr;
  for (const Trajectory& run : training.runs)
    if (run.autocast == autocast && run.scaling == scaling && run.fp32.empty() && (run.name != "recipe" || !found)) found = found && found->name != "recipe" ? found : &run;
  return found;
}

std::string verdictOf(bool autocast, bool scaling, bool both) {
  if (autocast && scaling && both) return "autocast alone and scaling alone both break it";
  if (autocast && both) return "autocast breaks it, with scaling and without; scaling alone does not";
  if (scaling && both) return "scaling breaks it, in FP32 as well; autocast alone does not";
  if (autocast && scaling) return "autocast alone and scaling alone break it, both together do not";
  if (autocast) return "autocast needs scaling here: without it the training breaks, with it it does not";
  if (scaling) return "scaling breaks it in FP32; under autocast it does not";
  if (both) return "only both together break it: gradients that carry the scale leave the low dtype's range; autocast alone and scaling alone do not";
  return "neither autocast nor scaling breaks it";
}

}  // namespace

bool inTrouble(const Trajectory& run) {
  const bool settled = !settledText(run).empty();
  const bool alarmed = std::any_of(run.alarms.begin(), run.alarms.end(), [&](const session::Alarm& alarm) { return alarm.id != "skips_in_a_row" || !settled; });
  return alarmed || !run.error.empty() || !std::isfinite(run.finalLoss());
}

std::string isolationText(const Training& training) {
  const std::array<const Trajectory*, 4> cells{cell(training, false, false), cell(training, true, false), cell(training, false, true), cell(training, true, true)};
  if (std::any_of(cells.begin(), cells.end(), [](const Trajectory* run) { return run == nullptr; })) return "";
  const auto& [fp32, autocast, scaling, both] = cells;
  if (inTrouble(*fp32)) return "FP32 without scaling breaks as well: this is no matter of mixed precision";
  std::string text = verdictOf(inTrouble(*autocast), inTrouble(*scaling), inTrouble(*both));
  const Trajectory& recipe = training.runs.front();
  if (recipe.fp32.empty() || !recipe.autocast) return text;
  const bool without = inTrouble(recipe.scaling ? *both : *autocast), with = inTrouble(recipe);
  return text + (without && !with ? "; the recipe's FP32 regions cure it" : without ? "; the recipe's FP32 regions do not cure it" : with ? "; with the recipe's FP32 regions it breaks" : "");
}

std::string settledText(const Trajectory& run) {
  if (!run.scaling || run.ledger.empty()) return "";
  std::int64_t last = -1;
  for (const auto& line : run.ledger)
    if (line.skipped) last = std::max(last, line.step);
  const std::int64_t steps = run.countedSteps();
  if (last < 0 || 2 * (last + 1) > steps || steps - last - 1 < 5) return "";
  return "the scale found its level, " + base::shortNumber(run.finalScale) + ", after step " + std::to_string(last) + ": skips while it does are harmless";
}

}  // namespace ulpscope::analysis
