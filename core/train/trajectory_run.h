// One trajectory, call by call. Private to core/train.
#pragma once

#include "core/session/training.h"
#include "core/train/batch_plan.h"
#include "core/train/forward_pass.h"
#include "core/train/grad_scaler.h"
#include "core/train/learning_rates.h"
#include "core/train/ledger.h"
#include "core/train/module_state.h"
#include "core/train/optimizers.h"
#include "core/train/step_program.h"
#include "core/train/step_watcher.h"
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
  session::Trajectory run(StepWatcher* watcher = nullptr);
  // The next step; false: the trajectory has ended early.
  bool step();
  bool cancelled() const { return m_cancelled; }
  bool loweredAny() const { return m_pass.loweredAny(); }
  TrainingModel& model() { return m_model; }
  const TrainingModel& model() const { return m_model; }

  // What the step before now was like; before the first one all is well.
  struct LastStep {
    std::int64_t step = 0;
    bool outputsFinite = true;  // looked at where the recipe's rollback asks for it
    bool applied = false;       // an optimizer stepped
    bool wantsCheckpoint = false;  // the recipe's order names one
    double loss = 0;            // the largest that an optimizer takes; NaN where one is
    std::vector<MicroBatch> batches;
    std::optional<session::FirstNonfinite> first;
  };
  LastStep lastStep() const;
  std::int64_t stepsDone() const { return m_step; }
  const std::string& error() const { return m_trajectory.error; }  // why it ended early; empty: it did not
  const std::vector<session::LedgerLine>& ledger() const { return m_trajectory.ledger; }
  // On the samples with a label (>= 0; torch ignores -100), 0..1; scores with NaN decide nothing and are wrong. Empty: there are no labels, or
  // scores of another shape than [samples, classes].
  std::optional<double> accuracy();
  void endEarly(const std::string& why) { m_trajectory.error = why; }
  void fail(const std::string& why) {
    m_trajectory.error = why;
    m_trajectory.failed = true;
  }
  // The step whose first micro-batch is compared with FP32, gradient by gradient; the first one unless it is named.
  void compareGradientsIn(std::int64_t step) { m_comparedStep = step; }

  // Why now is no moment for a checkpoint; empty: it is one.
  std::string whyNoCheckpoint() const;
  // Precondition: whyNoCheckpoint() is empty. Facts of the training as a whole (files, fingerprints, dates) are not filled.
  storage::TrainingCheckpoint checkpoint();
  // Goes on from there as if nothing had happened. changed: the recipe differs; then a scaler whose settings were changed keeps its scale
  // unless init_scale was, and the calls so far are judged by the old facts. Throws StepFailure (input) where it does not fit the model.
  void resume(const storage::TrainingCheckpoint& checkpoint, const std::optional<session::ScalerRecipe>& scalerBefore, bool changed);

 private:
  // What the running iteration has done.
  struct Iteration {
    std::vector<DoneBatch> batches;
    c10::IValue output;
    Losses losses;
    std::vector<at::Tensor> scaled;  // empty: scale() was not called since the loss
    double lossScale = 1;            // what scale() multiplied the loss by; twice: its square
    double scaleBefore = 1;
    std::vector<double> lossSums;  // one a loss, over the micro-batches
    std::int64_t lossCount = 0;
    bool lossNonfinite = false, outputNonfinite = false;
    bool looked = false, wantsCheckpoint = false;
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
  ModelSnapshot m_start;      // buffers at the running step's start
  UpdateMeter m_meter;
  session::EventLog m_log;
  session::Trajectory m_trajectory;
  std::vector<bool> m_poisoned;  // by buffer
  ForwardPass::Autocast m_autocast = ForwardPass::Autocast::off;
  std::int64_t m_step = 0, m_microBatches = 0;
  int m_scalersMade = 0;
  std::string m_scalerName;
  bool m_cancelled = false;
  std::int64_t m_comparedStep = 0;
  Iteration m_now;
  ModuleAttributes m_attributes;

  void makeScaler();
  void beginScaler();
  void askForCheckpoint(const Call& call);
  void restoreScaler(const storage::TrainingCheckpoint& checkpoint, const std::optional<session::ScalerRecipe>& before);
  void restoreAccount(const storage::TrainingCheckpoint& checkpoint, bool changed);
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
  void compareWithFp32();
  void noteBuffers();
  double lossOf(const TrainedOptimizer& optimizer) const;
  std::int64_t appliedBefore(std::size_t optimizer) const;
  void writeLines();
  void checkOrder(bool aborted);
  void finish();
  session::TrainingEvent& log(const Call& call);
  StepSubject subject() const;
};

}  // namespace ulpscope::train
