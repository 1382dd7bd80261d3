// What decides a run.
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

enum class Mode { emulated, native };
enum class TieRule { first, flag, refuse };

std::string name(Mode mode);
std::string name(TieRule rule);
std::optional<TieRule> tieRuleFromName(const std::string& name);

// How a decision is read off an output. dim counts within the output, the sample axis included; default the last one.
struct DecisionRule {
  enum class Kind { none, argmax } kind = Kind::none;
  std::optional<int> dim;
  std::string text() const;  // "none", "argmax", "argmax:1"
};
// Error kind usage naming the rules that exist.
base::Result<DecisionRule> parseDecisionRule(const std::string& text);

// Defaults are those of the command line.
struct RunSettings {
  base::DType autocast = base::DType::float16;  // float16 or bfloat16
  std::string policyTable = "cuda";             // "cuda" (newest known) or "cuda@1.13"
  Mode mode = Mode::emulated;
  std::string device = "cpu";
  int batchSize = 32;
  std::uint64_t seed = 0;
  bool trainMode = false;
  bool castCache = true;
  bool verifyProbe = false;
  bool introducedError = true;  // run each op again on the reference's inputs: what it adds by itself
  std::vector<std::string> fp32;     // autocast off, inputs cast to float32 at the border
  std::vector<std::string> disable;  // autocast off, inputs as they are
  DecisionRule decision;
  std::string decisionOutput;  // empty: the only output, or the first floating one
  TieRule tie = TieRule::first;
  std::map<std::string, int> batchAxis;  // input name -> axis that counts samples; -1: shared by all samples
};

nlohmann::json toJson(const RunSettings& settings);
base::Result<RunSettings> settingsFromJson(const nlohmann::json& json);

// One run as asked for.
struct RunRequest {
  std::string modelPath;
  std::string inputsPath;
  std::string labelsPath;      // empty: labels of the inputs file, if any
  std::string classNamesPath;  // likewise
  std::string sessionPath;
  bool append = false;  // the session exists and gets one more run
  RunSettings settings;
};

nlohmann::json toJson(const RunRequest& request);
base::Result<RunRequest> requestFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
