// Whether a training loop's calls come in the order that mixed precision needs.
//
// The order, and torch.amp's own errors: PyTorch's "CUDA Automatic Mixed Precision examples" and torch/amp/grad_scaler.py.
#pragma once

#include "core/session/training_events.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::analysis {

enum class OrderRule {
  clipBeforeUnscale,           // clips scaled gradients
  unscaleTwice,                // torch.amp raises
  unscaleAfterStep,            // torch.amp raises
  unscaleBeforeAccumulated,    // later gradients of the same update come in scaled
  stepTwice,                   // torch.amp raises
  stepBeforeAccumulated,
  backwardInAutocast,
  forwardOutsideAutocast,
  lossNotScaled,               // backward of a loss that no scale() took, although there is a scaler
  updateMissing,               // an iteration stepped and did not update the scaler
  updateTwice,
  updateWithoutStep,           // torch.amp raises: no inf checks were recorded
  scalerRecreated,             // a new scaler after the first iteration
  scalerShared,                // one scaler in two runs
  optimizerStepDirect,         // optimizer.step although there is a scaler
  scheduleOnSkippedUpdate,
  scheduleBeforeStep,
  zeroGradMissing,             // gradients of the update before are still there
  zeroGradWhileAccumulating,   // loses those of the micro-batches before
  zeroGradBeforeStep,          // throws the gradients away that the step should take
  backwardWithoutForward,      // no forward, loss, scale or autocast before it in its iteration; or more backwards than losses
  stepWithoutGradients,        // no backward since the step before
  scaleTwice,                  // more scales than losses, where losses are logged
  iterationBackwards,          // a lower iteration after a higher one
  notInHead,                   // a call on a scaler or autocast that the log's head denies
  nothingToJudge,              // a user's log without any step
  deprecatedApi,               // torch.cuda.amp
  checkpointBeforeUpdate,      // between a backward or step and the update() that ends it
  checkpointWithoutScaler      // the scaler's state is not in it
};
std::string name(OrderRule rule);         // "clip_before_unscale"
std::string explanation(OrderRule rule);  // what is wrong and what to do, one line

struct OrderViolation {
  std::int64_t step = 0;  // iteration
  std::string event;      // "clip"
  std::string optimizer;  // empty: of none in particular
  std::string run;
  OrderRule rule = OrderRule::clipBeforeUnscale;
};

// In the log's order; each rule once an iteration, optimizer and run, deprecatedApi, scalerShared, notInHead and checkpointWithoutScaler once in all.
std::vector<OrderViolation> checkOrder(const session::EventLog& log);

}  // namespace ulpscope::analysis
