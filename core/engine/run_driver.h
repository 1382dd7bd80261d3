// One run from request to outcome. Private to core/engine.
#pragma once

#include "core/engine/accumulation.h"
#include "core/engine/candidate.h"
#include "core/engine/capture.h"
#include "core/engine/description_cache.h"
#include "core/engine/engine.h"
#include "core/engine/live_cells.h"
#include "core/engine/noise_floor.h"
#include "core/engine/operand_trace.h"
#include "core/engine/output_collector.h"
#include "core/engine/policy_table.h"
#include "core/engine/referee.h"
#include "core/engine/run_frame.h"
#include "core/engine/run_progress.h"

#include <chrono>
#include <optional>

namespace ulpscope::engine {

inline constexpr std::chrono::seconds kCheckpointInterval{2};

class RunDriver {
 public:
  RunDriver(const LoadedModel& model, const session::RunRequest& request, const PolicyTable& table, const RunHooks& hooks);
  base::Result<RunOutcome> run(std::stop_token stop);

  // Before run(): threads of each side; told of each batch's outputs.
  using BatchSink = std::function<void(Batch batch, const std::vector<NamedTensor>& reference, const std::vector<NamedTensor>& candidate)>;
  void useThreads(int threads) { m_frame.threads = threads; }
  void tellBatches(BatchSink sink) { m_batchTold = std::move(sink); }
  // After it: why a forward without the hook computes something else; empty: it does not, as far as is known.
  std::string whyPlainDiffers() const;

 private:
  const LoadedModel& m_model;
  const session::RunRequest& m_request;
  const session::RunSettings& m_settings;
  const PolicyTable& m_table;
  const RunHooks& m_hooks;
  RegionSet m_regions;
  ReferenceSet m_set;               // the samples of this run
  session::SampleSet m_allSamples;  // of the inputs file
  AxisProbe m_axes;
  std::vector<Batch> m_batches;
  RunFrame m_frame;
  std::optional<RunProgress> m_progress;
  std::optional<LiveCells> m_live;
  torch::jit::Module m_referenceModule, m_candidateModule;
  DescriptionCache m_referenceDescriptions, m_candidateDescriptions;  // of earlier batches
  session::RunRecord m_run;
  struct Parameter {
    std::string name;
    at::Tensor value;
    std::int64_t version;
  };
  std::vector<Parameter> m_parameters;  // as they were before the first op
  ReferenceExecutor m_plain;
  std::unique_ptr<OpExecutor> m_executor;  // the candidate's
  storage::RunWriter* m_writer = nullptr;  // null: nothing is stored
  std::optional<Capture> m_capture;
  OperandTrace m_operands;  // of the first batch
  std::optional<NoiseFloorRun> m_floor;
  std::optional<Referee> m_referee;
  std::optional<AccumulationRun> m_accumulation;
  std::chrono::steady_clock::time_point m_start, m_nextCheckpoint;
  std::int64_t m_loweredOps = 0;
  bool m_drewRandomNumbers = false;
  bool m_referenceHoldsLow = false;  // the model makes 16-bit tensors itself
  BatchSink m_batchTold;             // may be empty
  bool m_openedFusedOps = false;     // which a run without the hook computes whole
  std::vector<NamedTensor> m_firstReference, m_firstCandidate;  // outputs of the first batch

  base::Status prepare();
  base::Status prepareSamples();
  base::Status openWriter();
  void planProgress();
  void judgeInputs();
  base::Status findAxes(std::stop_token stop);
  // One lock-step of the reference on the first batch and on `samples` (of the set).
  base::Status probeOnce(const std::vector<std::int64_t>& samples, std::stop_token stop);
  base::Status runBatches(Comparison& comparison, OutputCollector& outputs, std::stop_token stop);
  base::Status runBatch(Batch batch, Comparison& comparison, OutputCollector& outputs, std::stop_token stop);
  base::Result<PairResult> runBoth(Batch batch, Comparison& comparison, std::stop_token stop);
  base::Status checkpoint(const Comparison& comparison);
  base::Status verifyProbe();
  base::Status measureNoiseFloor(const OutputCollector& outputs, std::stop_token stop);
  base::Status measureReferee(std::stop_token stop);
  base::Status measureAccumulation(const OutputCollector& outputs, std::stop_token stop);
  base::Status checkParametersUntouched() const;
  void warnOnce(const std::string& warning);
  void explainReference();
  void findFirstValues(const RunOutcome& outcome);
  void findRootCauses(const Comparison& comparison);
  void finish(RunOutcome& outcome, const Comparison& comparison, const OutputCollector& outputs);

  ForwardSetup candidateSetup(torch::jit::Module& module, OpExecutor& executor, Arguments arguments);
  std::unique_ptr<OpExecutor> candidateExecutor() const { return candidateExecutor(m_settings.accumulate.value_or(session::Accumulate::strict)); }
  std::unique_ptr<OpExecutor> candidateExecutor(session::Accumulate accumulate) const { return engine::candidateExecutor(m_settings, m_table, m_regions, accumulate); }
};

}  // namespace ulpscope::engine
