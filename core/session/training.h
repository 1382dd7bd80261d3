// What one training by a recipe found: trajectories, their ledgers, and what they say.
#pragma once

#include "core/session/recipe.h"
#include "core/session/recorded_loop.h"
#include "core/session/training_history.h"
#include "core/session/verdict.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ulpscope::session {

// The first place, in the order of stages (input, parameter, intermediate, output, loss, gradient, update), that is not finite in a step. Of
// gradients: the first in backward's order.
struct FirstNonfinite {
  std::int64_t step = 0;
  std::string stage;
  std::string op, modulePath, source;  // of the forward op whose output the gradient belongs to, else that read the parameter; empty: of none
  int occurrence = 1;
  std::string parameter;               // stages gradient, parameter, update: the first that is not finite; else empty
  std::string kind;                    // "inf" or "NaN"
  bool ofParameter = false;            // stage gradient: the op's output has a finite gradient, that of `parameter`, which it read, has not
  std::string makerOp = {}, makerModule = {}, makerSource = {};  // stage gradient, of an output: the op that read it, in whose backward it came to be; empty: not known
};

// One optimizer in one step.
struct LedgerLine {
  std::int64_t step = 0;
  std::string optimizer;
  double loss = 0;                        // the one that this optimizer takes: mean over the micro-batches, unscaled
  double scaleBefore = 1, scaleAfter = 1; // of the scaler, around update(); 1 without one
  bool foundInf = false;
  bool applied = false, skipped = false;  // stepped; did not for non-finite gradients. Neither: the step raised before, or has no such call
  double scaledNorm = 0;                  // 2-norm of the gradients as backward left them
  double gradNorm = 0;                    // after unscale_, before clip
  double clippedNorm = 0;                 // after clip; gradNorm where nothing clips
  double zeroShare = 0, subnormalShare = 0, nonfiniteShare = 0;  // of its gradients' elements, as backward left them
  double lr = 0;                          // with which it stepped, or would have
  double updateNorm = 0;                  // 2-norm of the parameters' change; 0 where skipped
  std::int64_t appliedUpdates = 0, schedulerSteps = 0;  // of this optimizer, of the scheduler; after this step
  std::int64_t growthTracker = 0;         // of the scaler, after update()
  std::optional<FirstNonfinite> firstNonfinite;
  std::set<std::string> unrecorded = {};  // keys of its JSON (null there) that a recorded loop does not say: NaN, 0 or false here
  bool has(const std::string& key) const { return !unrecorded.contains(key); }
};

// Of one parameter over the steps; shares as in LedgerLine.
struct ParameterGradients {
  std::string name;
  std::string optimizer;  // empty: none takes it
  bool absent = false;    // no gradient ever reached it
  std::vector<float> zero, subnormal, nonfinite;  // one a step; NaN: it had no gradient in that step
  double zeroFraction() const;  // mean over the steps with a gradient; 1 where it is absent
};

struct Violation {
  std::int64_t step = 0;
  std::string event, rule, optimizer, text;
};

struct Alarm {
  std::string id;  // "scale_below_1", ...
  std::int64_t step = 0;
  std::string text;
};

// A gradient of a forward op's output, of one step: this trajectory against FP32 at the same weights.
struct GradientSite {
  std::string op, modulePath, source;
  int occurrence = 1;
  double relL2 = 0;                     // of the unscaled gradients; NaN: not finite, or FP32's is zero
  double referenceNorm = 0, norm = 0;
  double zeroShare = 0, nonfiniteShare = 0;
};

// One training run.
struct Trajectory {
  std::string name;                // "fp32", "recipe", "autocast on, scaling off", ...
  bool autocast = false, scaling = false;
  std::vector<std::string> fp32;   // regions
  std::vector<LedgerLine> ledger;  // by step, then by optimizer in the recipe's order
  std::vector<ParameterGradients> parameters;
  std::vector<GradientSite> gradientSites;  // of the first step, in forward order; empty: no FP32 beside it
  std::vector<Violation> violations;
  std::vector<Alarm> alarms;
  std::vector<std::string> poisonedBuffers;  // not finite at the end, with the step in which they became so: "bn.running_mean (step 3)"
  std::optional<FirstNonfinite> firstNonfinite;
  double finalScale = 1;
  std::int64_t steps = 0;          // done
  std::int64_t appliedUpdates = 0; // steps in which an optimizer stepped
  std::int64_t schedulerSteps = 0;
  std::optional<double> accuracy;  // on the labelled samples after the last step, scores with NaN being wrong; empty: no labels that fit
  std::string error;               // why it ended early; empty: it did all steps
  double elapsedSeconds = 0;
  bool failed = false;             // it ended early because the model or its loss could not run; not as the recipe or torch.amp has it
  std::map<std::string, std::vector<std::int64_t>> skipped() const;  // by optimizer
  std::size_t mostSkipped() const; // steps, of the optimizer that skipped most
  std::int64_t fewestUpdates() const;  // of the optimizer that was applied least
  std::int64_t countedSteps() const;   // with a line in the ledger
  double finalLoss() const;        // of the last step, mean over the optimizers; NaN without a step, or where it was not recorded
  bool recordsAny(const std::string& key) const;   // of the ledger's JSON: a line has it
  bool recordsLast(const std::string& key) const;  // all lines of the last step have it; true without a step
};

struct Training {
  int number = 0;
  std::string createdUtc, libtorchVersion, policyTable;
  std::string recipe;              // canonical JSON
  bool cancelled = false;
  double elapsedSeconds = 0;
  std::vector<Trajectory> runs;    // the recipe's first, then FP32, then those of --isolate
  std::vector<std::string> warnings;
  std::optional<Verdict> verdict;  // of the recipe's criteria
  // Of the recipe's trajectory; steps count from the training's first, resumed or not.
  std::vector<CheckpointEntry> checkpoints;  // written by this training
  std::vector<ResumeRecord> resumes;         // in order, those of the trainings it goes on with included
  std::optional<RollbackRecord> rollback;
  std::optional<RecordedLoop> recorded = {};  // a loop of somebody's own: it has no recipe
  const Trajectory* run(const std::string& name) const;  // nullptr: none of that name
};

nlohmann::json toJson(const std::optional<FirstNonfinite>& first);  // null: none
std::optional<FirstNonfinite> firstNonfiniteFromJson(const nlohmann::json& json);  // throws nlohmann::json::exception
nlohmann::json toJson(const Trajectory& run);
Trajectory trajectoryFromJson(const nlohmann::json& json);  // throws nlohmann::json::exception
nlohmann::json toJson(const LedgerLine& line);
LedgerLine ledgerLineFromJson(const nlohmann::json& json);  // throws nlohmann::json::exception

// The document of `ulpscope train --json`: the recipe's trajectory at the top, all of them under "runs".
nlohmann::json trainingDocument(const Training& training);
// Everything, and back; throws nlohmann::json::exception on anything else.
nlohmann::json toJson(const Training& training);
Training trainingFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
