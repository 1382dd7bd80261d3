// torch.amp.GradScaler for C++: dynamic loss scaling for optimizers of torch::optim (LibTorch has none, pytorch#44710).
//
//   GradScaler scaler;                              // one for the whole training
//   for (auto& batch : data) {
//     optimizer.zero_grad();
//     at::Tensor loss = ...;                        // forward and loss under autocast, backward outside
//     scaler.scale(loss).backward();
//     scaler.unscale_(optimizer);                   // optional: only to look at, or clip, the gradients
//     if (!scaler.step(optimizer).applied) ...      // skipped: a gradient is not finite
//     scaler.update();                              // once an iteration, also where a step was skipped
//   }
//
// Semantics, call for call, and the words of its errors: torch/cuda/amp/grad_scaler.py (1.13) and torch/amp/grad_scaler.py (2.x); arithmetic:
// aten/src/ATen/native/cuda/AmpKernels.cu. Not for several threads at once.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace ulpscope::train {

// What PyTorch raises, in its words; kind names its exception.
class ScalerError : public std::runtime_error {
 public:
  enum class Kind { assertion, runtime, value, key };  // AssertionError, RuntimeError, ValueError, KeyError
  ScalerError(Kind kind, const std::string& words) : std::runtime_error(words), m_kind(kind) {}
  Kind kind() const { return m_kind; }

 private:
  Kind m_kind;
};

class GradScaler {
 public:
  // 1.13 (to 2.0): the scale may grow to infinity, from which it never recovers. 2.1 and later: it grows only where the result is finite.
  enum class Series { v1_13, v2_1 };
  struct Options {
    double initScale = 65536, growthFactor = 2, backoffFactor = 0.5;
    std::int64_t growthInterval = 2000;
    bool enabled = true;  // false: every call does nothing, step() is the optimizer's
    Series series = Series::v2_1;
  };
  // Throws ScalerError (assertion) unless growthFactor > 1 and backoffFactor < 1, where it is enabled.
  GradScaler() : GradScaler(Options{}) {}
  explicit GradScaler(const Options& options);

  // Times the scale, a float32 of no dimension: a 16-bit loss comes back in float32, its gradient is the scale rounded to 16 bits. The
  // scale comes to be with the first call; whatever needs it before that throws.
  at::Tensor scale(const at::Tensor& output);
  std::vector<at::Tensor> scale(const std::vector<at::Tensor>& outputs);

  // Divides the optimizer's gradients by the scale, in place, after a look at whether the *scaled* ones are finite. At most once an
  // optimizer and update. A float16 gradient is refused before anything is written.
  void unscale_(torch::optim::Optimizer& optimizer);

  struct Step {
    bool applied = false;  // Python's None tells a skipped step from most optimizers' own None by nothing
    at::Tensor value;      // what the optimizer's step returned
  };
  // Unscales unless that was done, and steps where no gradient was infinite or NaN.
  Step step(torch::optim::Optimizer& optimizer);

  // Backs off where any optimizer's gradients were not finite, else counts, and grows where the count equals the interval. There is no
  // lower bound. A new scale replaces all that; both forget what was recorded of the optimizers.
  void update();
  void update(double newScale);
  void update(const at::Tensor& newScale);  // one float32 element that requires no gradient

  double getScale() const;  // 1 where it is not enabled
  bool isEnabled() const { return m_options.enabled; }
  double growthFactor() const { return m_options.growthFactor; }
  double backoffFactor() const { return m_options.backoffFactor; }
  std::int64_t growthInterval() const { return m_options.growthInterval; }
  void setGrowthFactor(double factor) { m_options.growthFactor = factor; }
  void setBackoffFactor(double factor) { m_options.backoffFactor = factor; }
  void setGrowthInterval(std::int64_t interval) { m_options.growthInterval = interval; }
  std::int64_t growthTracker() const;

  // Keys "scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"; empty where it is not enabled. Save it after update().
  std::map<std::string, double> stateDict() const;
  void loadStateDict(const std::map<std::string, double>& state);

  // Whether unscale_() or step() was called since the last update(): torch.amp refuses to pickle such a scaler.
  bool hasPending() const { return !m_optimizers.empty(); }

  // Since the last update(): whether unscale_() or step() found a gradient of the optimizer that was not finite; empty: neither was called.
  std::optional<bool> foundInf(const torch::optim::Optimizer& optimizer) const;

 private:
  enum class Stage { ready, unscaled, stepped };
  struct OptimizerState {
    Stage stage = Stage::ready;
    std::optional<bool> foundInf;  // empty: no gradient was looked at
  };

  Options m_options;
  double m_initScale;
  std::int64_t m_initTracker = 0;
  std::optional<float> m_scale;  // float32, as PyTorch's tensor
  std::int32_t m_tracker = 0;
  std::unordered_map<const void*, OptimizerState> m_optimizers;

  void requireScale(const std::string& function) const;
  void makeScale();
  void move(bool foundInf);
};

// unscale_'s kernel on one tensor, strided or sparse: whether an element is infinite or NaN, and every element times `inverse` (a float;
// nothing is written where it is 1). 16-bit elements are multiplied in float32.
bool checkFiniteAndUnscale(at::Tensor gradient, float inverse);

}  // namespace ulpscope::train
