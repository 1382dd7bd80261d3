// What decides a run.
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/session/verdict.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

// recorded: by resources/python/ulpscope_recorder.py, in the user's own PyTorch and on the device that it names. No engine can run it again.
enum class Mode { emulated, native, recorded };
enum class TieRule { first, flag, refuse };
// What is looked at: outputs and decisions only; every op's numbers; those and what each op adds (the introduced error).
enum class Observe { outputs, stats, full };
// How emulated matrix products add up: in float32; or long sums in parts that are rounded to the low dtype, as a GPU may do (cuBLAS's
// split-K with reduced-precision reduction, which PyTorch allows unless told otherwise).
enum class Accumulate { strict, pessimistic };

std::string name(Mode mode);
std::optional<Mode> modeFromName(const std::string& name);
std::string name(TieRule rule);
std::string name(Observe observe);
std::string name(Accumulate accumulate);
std::optional<Accumulate> accumulateFromName(const std::string& name);
std::optional<Observe> observeFromName(const std::string& name);
std::optional<TieRule> tieRuleFromName(const std::string& name);

// How a decision is read off an output.
struct DecisionRule {
  enum class Kind {
    none,
    argmax, argmin,  // the class with the largest, or smallest, score
    topk,            // the set of the k largest scores
    threshold,       // above or not, every element by itself: binary and multi-label scores
    exact,           // the whole numbers of the output themselves: masks, indices, token ids
    regression       // no decision: errors and extreme values of the output
  } kind = Kind::none;
  std::optional<int> dim;  // argmax, argmin, topk: axis of the classes, the sample axis counted; default the last one
  int k = 1;               // topk, at least 1
  double threshold = 0;
  bool orEqual = false;    // threshold: a score equal to it is above (ge), or not (gt)

  bool decides() const { return kind != Kind::none && kind != Kind::regression; }
  bool hasClasses() const { return kind == Kind::argmax || kind == Kind::argmin || kind == Kind::topk; }
  // A flip needs a margin of at most this many times the largest error of the sample's scores; 0: there are no margins.
  int errorsToFlip() const { return hasClasses() ? 2 : kind == Kind::threshold ? 1 : 0; }
  std::string text() const;  // "none", "argmax", "argmax:1", "topk:5", "topk:5:1", "threshold:0.5:ge", "exact", "regression"
};
// Error kind usage naming the rules that exist, or what is wrong with the words after the colon.
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
  std::optional<Accumulate> accumulate;  // empty: strict, the other end is not looked at
  Observe observe = Observe::full;
  bool noiseFloor = true;       // one more FP32 run in another sample order and with another thread count
  bool referee = false;         // both runs against a run in float64
  std::vector<std::string> capture;  // store these in full: globs of module paths, or op sites as in `fp32`
  std::int64_t captureBudget = std::int64_t{1} << 30;  // bytes
  std::vector<std::string> onlySamples;  // ids; empty: all
  std::vector<std::string> fp32;     // autocast off, inputs cast to float32 at the border
  std::vector<std::string> disable;  // autocast off, inputs as they are
  std::vector<std::string> allowNonfinite;  // rules (allowed_nonfinite.h) that call non-finite values of FP32 intended
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
  bool append = false;  // the session may exist, or come to be meanwhile: it gets one more run
  RunSettings settings;
  std::string criteria;             // canonical JSON of criteria to lock before the first op; empty: none, or those of the session
  std::optional<Lineage> explored;  // the exploratory session that a new one comes from
};

nlohmann::json toJson(const RunRequest& request);
base::Result<RunRequest> requestFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
