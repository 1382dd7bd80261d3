#include "core/session/command_line.h"

#include "core/base/shell_word.h"
#include "core/session/sample_choice.h"

namespace ulpscope::session {

using base::shellWord;

std::string runCommand(const RunRequest& request, const std::string& onlySamplesWord) {
  const RunSettings& s = request.settings;
  const RunSettings defaults;
  std::string text = "ulpscope run " + shellWord(request.modelPath);
  const auto add = [&text](const std::string& option, const std::string& value) {
    if (!value.empty()) text += " " + option + " " + shellWord(value);
  };
  add("--inputs", request.inputsPath);
  if (!request.labelsPath.empty()) add("--labels", request.labelsPath);
  if (!request.classNamesPath.empty()) add("--class-names", request.classNamesPath);
  if (s.autocast != defaults.autocast) add("--autocast", "bf16");
  if (s.mode == Mode::native) add("--mode", name(s.mode));
  if (s.policyTable != (s.mode == Mode::native ? "cpu" : defaults.policyTable)) add("--policy", s.policyTable);
  if (s.batchSize != defaults.batchSize) add("--batch-size", std::to_string(s.batchSize));
  if (s.decision.kind != DecisionRule::Kind::none) add("--decision", s.decision.text());
  add("--decision-output", s.decisionOutput);
  if (s.tie != defaults.tie) add("--tie", name(s.tie));
  for (const auto& [input, axis] : s.batchAxis) add("--batch-axis", input + "=" + (axis < 0 ? "none" : std::to_string(axis)));
  if (s.seed != defaults.seed) add("--seed", std::to_string(s.seed));
  if (!s.castCache) text += " --no-cast-cache";
  if (s.trainMode) text += " --train";
  if (s.verifyProbe) text += " --verify-probe";
  if (s.observe != defaults.observe) add("--observe", name(s.observe));
  if (s.accumulate) add("--accumulate", name(*s.accumulate));
  if (!s.noiseFloor) text += " --no-noise-floor";
  if (s.referee) text += " --referee";
  for (const std::string& pattern : s.capture) add("--capture", pattern);
  if (s.captureBudget != defaults.captureBudget) add("--capture-budget", std::to_string(s.captureBudget));
  if (!s.onlySamples.empty()) add("--only-samples", onlySamplesWord.empty() ? sampleIdsText(s.onlySamples) : onlySamplesWord);
  for (const std::string& rule : s.allowNonfinite) add("--allow-nonfinite", rule);
  for (const std::string& path : s.disable) add("--disable", path);
  for (const std::string& path : s.fp32) add("--fp32", path);
  add("--session", request.sessionPath);
  return text;
}

}  // namespace ulpscope::session
