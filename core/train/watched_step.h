// A step once more from its start, watched. Private to core/train.
#pragma once

#include "core/session/training.h"
#include "core/train/forward_pass.h"
#include "core/train/optimizers.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::train {

// One backward pass as it was done.
struct DoneBackward {
  std::vector<std::size_t> losses;       // numbers, in order
  std::vector<double> scales;            // what each was multiplied by; one a loss
  std::vector<std::vector<at::Tensor>> inputs;  // which leaves take gradients of it, one list a loss; empty: all
};

// One micro-batch as it was run.
struct DoneBatch {
  MicroBatch batch;
  ForwardPass::Autocast forward = ForwardPass::Autocast::off, loss = ForwardPass::Autocast::off;
  std::vector<DoneBackward> backwards;
};

// A loss times a scale, as GradScaler::scale multiplies.
at::Tensor scaledBy(const at::Tensor& loss, double scale);
// torch.autograd.backward of each loss; the graph is kept until the last one.
void backward(const std::vector<at::Tensor>& losses, const std::vector<std::vector<at::Tensor>>& inputs);
// What a step found, before anything was unscaled.
struct StepSubject {
  const TrainingFrame& frame;
  TrainingModel& model;
  ForwardPass& pass;
  const std::vector<TrainedOptimizer>& optimizers;
  const ModelSnapshot& start;             // buffers at the step's start
  const std::vector<DoneBatch>& batches;
  std::int64_t step;
};

// For each optimizer the first place that is not finite, by stage; empty: all its gradients are finite, and so is the loss. The step is
// run again with hooks unless an input or a parameter explains it; gradients and buffers are as before afterwards.
std::vector<std::optional<session::FirstNonfinite>> explainNonfinite(const StepSubject& subject);

// The first micro-batch in this trajectory's precision and scale, and in FP32, at the same weights.
struct FirstStepGradients {
  std::vector<session::GradientSite> sites;         // in forward order
  std::vector<double> zeroShares, referenceZeroShares;  // one a parameter; NaN: it got no gradient
};
FirstStepGradients compareGradients(const StepSubject& subject, ForwardPass& fp32, const DoneBatch& batch);

}  // namespace ulpscope::train
