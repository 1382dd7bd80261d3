// One run from request to outcome. Private to core/engine.
#pragma once

#include "core/engine/comparison.h"
#include "core/engine/engine.h"
#include "core/engine/forward.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/engine/output_collector.h"
#include "core/engine/policy_table.h"

#include <optional>

namespace ulpscope::engine {

class RunDriver {
 public:
  RunDriver(const LoadedModel& model, const session::RunRequest& request, const PolicyTable& table);
  base::Result<RunOutcome> run(const base::ProgressSink& progress, std::stop_token stop);

 private:
  const LoadedModel& m_model;
  const session::RunRequest& m_request;
  const session::RunSettings& m_settings;
  const PolicyTable& m_table;
  RegionSet m_regions;
  const RegionSet m_noRegions;
  ReferenceSet m_set;
  AxisProbe m_axes;
  std::vector<Batch> m_batches;
  torch::jit::Module m_referenceModule, m_candidateModule;
  session::RunRecord m_run;
  std::vector<std::pair<std::string, std::uint32_t>> m_parameterVersions;
  std::int64_t m_loweredOps = 0;
  bool m_drewRandomNumbers = false;
  std::vector<NamedTensor> m_firstReference, m_firstCandidate;  // outputs of the first batch

  base::Status prepare();
  base::Error referenceFailed(const SideResult& reference) const;
  void judgeInputs();
  base::Status findAxes(std::stop_token stop);
  // One lock-step of the reference on the first batch and on `samples` (of the set).
  base::Status probeOnce(const std::vector<std::int64_t>& samples, std::stop_token stop);
  base::Status runBatches(Comparison& comparison, OutputCollector& outputs, const base::ProgressSink& progress, std::stop_token stop);
  base::Status runBatch(Batch batch, Comparison& comparison, OutputCollector& outputs, const base::ProgressSink& progress, std::stop_token stop);
  base::Status verifyProbe();
  base::Status checkParametersUntouched() const;
  void warnOfLabelsBeyond(std::int64_t classes);
  base::Status decide(RunOutcome& outcome, const OutputCollector& outputs);
  void finish(RunOutcome& outcome, Comparison& comparison, OutputCollector& outputs);

  ForwardSetup referenceSetup(torch::jit::Module& module, OpExecutor& executor, Arguments arguments) const;
  ForwardSetup candidateSetup(torch::jit::Module& module, OpExecutor& executor, Arguments arguments);
  EmulatedExecutor::Options emulation() const;
};

}  // namespace ulpscope::engine
