// One trajectory, call by call. Private to core/train.
#pragma once

#include "core/session/training.h"
#include "core/train/batch_plan.h"
#include "core/train/forward_pass.h"
#include "core/train/grad_scaler.h"
#include "core/train/learning_rates.h"
#include "core/train/ledger.h"
#include "core/train/optimizers.h"
#include "core/train/step_program.h"
#include "core/train/watched_step.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::train {

class TrajectoryRun {
 public:
  // Accounting::off trains alone: for measuring what the account costs.
  enum class Accounting { off, on };
  // Throws StepFailure where the recipe asks for what is not there.
  TrajectoryRun(const TrainingFrame& frame, const RunPlan& plan, Accounting accounting = Accounting::on);

  // All steps. Throws StepFailure (usage) alone; engine::Cancelled ends it with what there is and cancelled() true.
  session::Trajectory run();
  // The next step; false: the trajectory has ended early.
  bool step();
  bool cancelled() const { return m_cancelled; }
  bool loweredAny() const { return m_pass.loweredAny(); }
  TrainingModel& model() { return m_model; }

 private:
  // What the running iteration has done.
  struct Iteration {
    std::vector<DoneBatch> batches;
    c10::IValue output;
    Losses losses;
    std::vector<at::Tensor> scaled;  // empty: scale() was not called since the loss
    double scaleBefore = 1, lossSum = 0;
    std::int64_t lossCount = 0;
    bool lossNonfinite = false;
    bool looked = false;
    std::vector<OptimizerTally> tallies;
    bool anyApplied = false;
  };

  const TrainingFrame& m_frame;
  const RunPlan& m_plan;
  Accounting m_accounting;
  TrainingModel m_model;
  ForwardPass m_pass;
  std::vector<TrainedOptimizer> m_optimizers;
  std::vector<Call> m_program;
  std::optional<GradScaler> m_scaler;
  LearningRates m_rates;
  BatchPlan m_batches;
  Ledger m_ledger;
  BufferSnapshot m_start;      // buffers at the running step's start
  UpdateMeter m_meter;
  session::EventLog m_log;
  session::Trajectory m_trajectory;
  std::vector<bool> m_poisoned;  // by buffer
  ForwardPass::Autocast m_autocast = ForwardPass::Autocast::off;
  std::int64_t m_step = 0, m_microBatches = 0;
  int m_scalersMade = 0;
  std::string m_scalerName;
  bool m_cancelled = false;
  Iteration m_now;

  void makeScaler();
  void perform(const Call& call);
  void zeroGradients(int optimizer);
  void forward();
  void loss();
  void scale();
  void backward(int optimizer);
  void lookOnce();
  void guard() const;
  void unscale(std::size_t optimizer);
  void clip(std::size_t optimizer);
  void stepOptimizer(std::size_t optimizer, session::EventKind kind);
  void noteUpdate(std::size_t optimizer, OptimizerTally& tally);
  void schedule();
  void compareFirstStep();
  void noteBuffers();
  void writeLines();
  void checkOrder(bool aborted);
  void finish();
  double accuracy();
  session::TrainingEvent& log(const Call& call);
  StepSubject subject() const;
};

}  // namespace ulpscope::train
