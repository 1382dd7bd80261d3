// The account of one step: what each optimizer found and did. Private to core/train.
#pragma once

#include "core/session/training.h"
#include "core/train/gradient_statistics.h"
#include "core/train/optimizers.h"

#include <optional>
#include <vector>

namespace ulpscope::train {

// Of one optimizer in the running step.
struct OptimizerTally {
  GradientStatistics gradients;   // as backward left them
  std::optional<double> gradNorm, clippedNorm;  // set by unscale_ and clip, or by step
  bool unscaled = false, stepped = false, applied = false;
  bool foundInf = false;          // of the scaler; without one: a gradient is not finite
  double lr = 0, updateNorm = 0;
  std::optional<session::FirstNonfinite> first;
};

class Ledger {
 public:
  Ledger(const TrainingModel& model, const std::vector<TrainedOptimizer>& optimizers, double tiny);

  // One pass over each gradient as backward left it; adds a column to every parameter's shares.
  std::vector<OptimizerTally> lookAtGradients();
  // A step without a look has a column all the same.
  void lookAtNothing();
  // 2-norm of an optimizer's gradients as they are.
  static double gradientNorm(const TrainedOptimizer& optimizer);

  const std::vector<session::ParameterGradients>& parameters() const { return m_parameters; }
  // Precondition: of the same parameters.
  void goOnFrom(std::vector<session::ParameterGradients> parameters) { m_parameters = std::move(parameters); }

 private:
  const TrainingModel& m_model;
  const std::vector<TrainedOptimizer>& m_optimizers;
  double m_tiny;
  std::vector<session::ParameterGradients> m_parameters;
  std::vector<int> m_owners;  // optimizer by parameter; -1: none
};

// The parameters of an optimizer before its step, and how far they went.
class UpdateMeter {
 public:
  void before(const TrainedOptimizer& optimizer);
  double norm(const TrainedOptimizer& optimizer) const;

 private:
  std::vector<at::Tensor> m_before;
};

}  // namespace ulpscope::train
