#include "run_command_line.h"

#include "core/base/shell_word.h"
#include "core/session/sample_choice.h"

#include <filesystem>

namespace ulpscope::cli {

using base::shellWord;

std::string shownPath(const std::string& path) {
  const std::filesystem::path relative = std::filesystem::path(path).lexically_proximate(std::filesystem::current_path());
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

std::string appendCommand(const session::RunRequest& request, const std::string& onlySamplesWord) {
  const session::RunSettings& s = request.settings;
  const session::RunSettings defaults;
  std::string text = "ulpscope run " + shellWord(shownPath(request.modelPath));
  const auto add = [&text](const std::string& option, const std::string& value) {
    if (!value.empty()) text += " " + option + " " + shellWord(value);
  };
  add("--inputs", shownPath(request.inputsPath));
  if (!request.labelsPath.empty()) add("--labels", shownPath(request.labelsPath));
  if (!request.classNamesPath.empty()) add("--class-names", shownPath(request.classNamesPath));
  if (s.autocast != defaults.autocast) add("--autocast", "bf16");
  if (s.mode == session::Mode::native) add("--mode", session::name(s.mode));
  if (s.policyTable != (s.mode == session::Mode::native ? "cpu" : defaults.policyTable)) add("--policy", s.policyTable);
  if (s.batchSize != defaults.batchSize) add("--batch-size", std::to_string(s.batchSize));
  if (s.decision.kind != session::DecisionRule::Kind::none) add("--decision", s.decision.text());
  add("--decision-output", s.decisionOutput);
  if (s.tie != defaults.tie) add("--tie", name(s.tie));
  for (const auto& [input, axis] : s.batchAxis) add("--batch-axis", input + "=" + (axis < 0 ? "none" : std::to_string(axis)));
  if (s.seed != defaults.seed) add("--seed", std::to_string(s.seed));
  if (!s.castCache) text += " --no-cast-cache";
  if (s.trainMode) text += " --train";
  if (s.verifyProbe) text += " --verify-probe";
  if (s.observe != defaults.observe) add("--observe", name(s.observe));
  if (s.accumulate) add("--accumulate", session::name(*s.accumulate));
  if (!s.noiseFloor) text += " --no-noise-floor";
  if (s.referee) text += " --referee";
  for (const std::string& pattern : s.capture) add("--capture", pattern);
  if (s.captureBudget != defaults.captureBudget) add("--capture-budget", std::to_string(s.captureBudget));
  if (!s.onlySamples.empty()) add("--only-samples", onlySamplesWord.empty() ? session::sampleIdsText(s.onlySamples) : onlySamplesWord);
  for (const std::string& rule : s.allowNonfinite) add("--allow-nonfinite", rule);
  for (const std::string& path : s.disable) add("--disable", path);
  for (const std::string& path : s.fp32) add("--fp32", path);
  add("--session", shownPath(request.sessionPath));
  return text + " --append";
}

}  // namespace ulpscope::cli
