// A training recipe: RECIPE.json (resources/schema/recipe.schema.json) and its parts.
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/session/settings.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

struct LossRecipe {
  enum class Kind { output, crossEntropy, nll, mse, l1, smoothL1, bceWithLogits, bce, script } kind = Kind::output;
  enum class Reduce { none, mean, sum } reduce = Reduce::none;  // none: the model returns scalars
  std::string output;  // of the model, by name; empty: the only one, or the first
  std::string target;  // input name, "labels" or "targets"; not of Kind::output
  std::string script;  // path of a TorchScript module: forward(output, target) gives the loss
};
std::string name(LossRecipe::Kind kind);  // "output", "cross_entropy", ...

struct OptimizerRecipe {
  enum class Type { sgd, adam, adamW } type = Type::sgd;
  std::string name;
  std::vector<std::string> parameters{"*"};  // globs over named_parameters()
  int loss = 0;                              // which of the losses its gradients come from
  double lr = 0;
  double momentum = 0, dampening = 0;        // SGD
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // Adam, AdamW
  bool amsgrad = false;
  double weightDecay = 0;                    // AdamW's default is 0.01
};
std::string name(OptimizerRecipe::Type type);  // "SGD", "Adam", "AdamW"

struct AutocastRecipe {
  base::DType dtype = base::DType::float16;
  std::string policyTable = "cuda";
  Mode mode = Mode::emulated;
  std::vector<std::string> fp32, disable;
  bool castCache = true;
};

// torch.amp.GradScaler's arguments. series: 1.13 (and 2.0) let the scale grow to infinity, 2.1 and later do not.
struct ScalerRecipe {
  enum class Series { v1_13, v2_1 } series = Series::v2_1;
  double initScale = 65536, growthFactor = 2, backoffFactor = 0.5;
  std::int64_t growthInterval = 2000;
};
std::string name(ScalerRecipe::Series series);  // "1.13", "2.1"

struct ClipRecipe {
  std::optional<double> norm;   // torch.nn.utils.clip_grad_norm_, 2-norm
  bool errorIfNonfinite = false;
  std::optional<double> value;  // clip_grad_value_
};

struct SchedulerRecipe {
  enum class Type { step, exponential, linearWarmup } type = Type::step;
  enum class Rule { perUpdate, perIteration } rule = Rule::perUpdate;
  std::int64_t stepSize = 1;    // step: lr *= gamma each stepSize; linearWarmup: from gamma * lr to lr over stepSize
  double gamma = 0.1;
};
std::string name(SchedulerRecipe::Type type);  // "StepLR", "ExponentialLR", "LinearWarmup"

// Limits to lock before the first step. Empty: none.
struct TrainingCriteria {
  std::optional<double> maxSkipRate;               // skipped over all steps, 0..1; of the optimizer that skipped most
  std::optional<std::int64_t> minAppliedUpdates;   // of the optimizer that was applied least
  std::optional<double> maxFinalLossIncrease;      // last loss less FP32's
  std::optional<double> maxAccuracyDrop;           // FP32's less this run's, 0..1
  bool noAlarm = false;
  bool any() const { return maxSkipRate || minAppliedUpdates || maxFinalLossIncrease || maxAccuracyDrop || noAlarm; }
};
// The limits that are set, as JSON with sorted keys: the same text for the same limits, however they were written. Empty: none is set.
std::string canonicalText(const TrainingCriteria& criteria);
// Reads that back; error kind input for anything else.
base::Result<TrainingCriteria> trainingCriteriaFromText(const std::string& canonical);

// When to go back to the last good checkpoint and stop there. Empty: never.
struct RollbackRecipe {
  bool outputsNonfinite = false;              // an output or the loss of a step is not finite
  std::optional<double> minAccuracy;          // on all samples, 0..1; looked at where a checkpoint is due
  std::optional<double> maxLoss;              // of a step; NaN is outside
  std::optional<std::int64_t> noUpdateIn;     // steps without an update
  bool any() const { return outputsNonfinite || minAccuracy || maxLoss || noUpdateIn; }
};

struct Recipe {
  std::string model, inputs, labels;  // paths; labels empty: those of the inputs file
  LossRecipe loss;
  std::vector<OptimizerRecipe> optimizers;
  std::optional<SchedulerRecipe> scheduler;
  std::optional<AutocastRecipe> autocast;  // empty: FP32
  std::optional<ScalerRecipe> scaler;
  std::int64_t accumulationSteps = 1;
  bool divideLoss = true;                  // by accumulationSteps
  std::optional<ClipRecipe> clip;
  bool stopOnNonfinite = false;            // on_nonfinite: "stop" or "skip"
  bool setToNone = true;
  std::int64_t steps = 1;                  // updates tried
  std::int64_t batchSize = 32;             // rows of a micro-batch
  std::optional<std::uint64_t> shuffleSeed;
  std::uint64_t seed = 0;
  std::vector<std::string> events;         // the order of one iteration, event_order.h; empty: the right one
  TrainingCriteria criteria;
  RollbackRecipe rollback;
  std::int64_t checkpointEvery = 0;        // steps; 0: none. A rollback needs some

  std::string canonical;  // the file's JSON, keys sorted, without spaces
  std::string sha256;     // of that text
};

// Errors (kind input) name the place: an unknown key and the nearest known one, a value of another kind, a factor that torch.amp refuses, two
// optimizers of one name, bce under an autocast that refuses it. Paths are left as they stand.
base::Result<Recipe> recipeFromJson(const nlohmann::json& json);
// What an engine refuses while it trains by `path`: where a key of the recipe is to blame, told of that key instead of an option of the command line,
// and of kind input, as everything that is wrong in a file. Other errors stay as they are.
base::Error asRecipeFault(base::Error error, const std::string& path);
// Paths become relative to the file's folder.
base::Result<Recipe> readRecipe(const std::string& path);

}  // namespace ulpscope::session
