// What RunDriver does beside and after the batches: checkpoints, the probe check, FP32's own noise, the referee, the record.
#include "core/base/nearest_names.h"
#include "core/engine/run_driver.h"
#include "core/engine/run_subset.h"

#include <algorithm>

namespace ulpscope::engine {
namespace {

using base::Status;

constexpr int kCheckpointShare = 20;  // a checkpoint may cost one twentieth of the time at most

}  // namespace

// What was measured so far outlives a crash; seldom enough to cost little.
Status RunDriver::checkpoint(const Comparison& comparison) {
  const auto start = std::chrono::steady_clock::now();
  if (!m_writer || start < m_nextCheckpoint) return base::success();
  RunOutcome soFar;
  soFar.run = m_run;
  soFar.run.status = session::RunStatus::partial;
  soFar.run.elapsedSeconds = std::chrono::duration<double>(start - m_start).count();
  comparison.describe(soFar.run, soFar.metrics);
  spreadOver(m_allSamples, m_set.samples, soFar);
  if (auto written = m_writer->checkpoint(std::move(soFar.run), soFar.metrics); !written) return written;
  const auto end = std::chrono::steady_clock::now();
  m_nextCheckpoint = end + std::max<std::chrono::steady_clock::duration>(kCheckpointInterval, kCheckpointShare * (end - start));
  return base::success();
}

std::string RunDriver::whyPlainDiffers() const {
  if (m_drewRandomNumbers) return "the model draws random numbers, which are others without interception";
  if (m_openedFusedOps) return "the file holds PyTorch's fused layers, which run whole without interception";
  return m_referenceHoldsLow ? "the model's own code computes in 16 bits" : "";
}

Status RunDriver::verifyProbe() {
  if (!m_settings.verifyProbe || m_firstReference.empty()) return base::success();
  m_progress->begin("checking the probe");
  torch::jit::Module reference = copyForRun(m_model.module, m_settings.trainMode);
  torch::jit::Module candidate = copyForRun(m_model.module, m_settings.trainMode);
  ReferenceExecutor plain;
  const auto executor = candidateExecutor();
  const Arguments arguments = argumentsFor(m_set, m_batches.front());
  // A plain run draws other random numbers than ours, which are seeded op by op, has no kernels for a model's own half tensors, and runs
  // fused ops whole: then the hook stays and only the observer goes.
  const ForwardSetup bareSetup = m_frame.reference(reference, plain, arguments);
  const SideResult bare = !whyPlainDiffers().empty() ? runForward(bareSetup, {}) : runPlain(bareSetup);
  const SideResult unobserved = runForward(candidateSetup(candidate, *executor, arguments), {});
  const bool identical = !bare.failed && !unobserved.failed && bitIdentical(flattenOutputs(bare.value), m_firstReference) &&
                         bitIdentical(flattenOutputs(unobserved.value), m_firstCandidate);
  m_run.probeCheck = identical ? "identical" : "differs";
  if (!identical) m_run.warnings.emplace_back("probe check: outputs with and without observation differ; do not trust this run");
  return base::success();
}

Status RunDriver::measureNoiseFloor(const OutputCollector& outputs, std::stop_token stop) {
  if (!m_settings.noiseFloor) return base::success();
  m_run.noiseFloor.emplace();
  if (m_run.candidateError) m_run.noiseFloor->skipped = "the candidate raised";
  if (m_drewRandomNumbers) m_run.noiseFloor->skipped = "the model draws random numbers, and in another order each sample would get others";
  if (!m_run.noiseFloor->skipped.empty()) return base::success();
  m_progress->begin("noise floor");
  m_floor.emplace(m_frame, outputs);
  if (auto status = m_floor->measure(*m_progress, stop); !status) return status;
  m_run.noiseFloor = m_floor->summary();
  return base::success();
}

Status RunDriver::measureReferee(std::stop_token stop) {
  if (!m_settings.referee || m_run.candidateError) return base::success();
  m_progress->begin("referee in float64");
  torch::jit::Module candidate = copyForRun(m_model.module, m_settings.trainMode);
  m_referee.emplace(m_frame, [this, &candidate](const Batch& batch, const EventSink& sink) {
    const auto executor = candidateExecutor();
    return runForward(candidateSetup(candidate, *executor, argumentsFor(m_set, batch)), sink);
  });
  return m_referee->measure(*m_progress, stop);
}

Status RunDriver::measureAccumulation(const OutputCollector& outputs, std::stop_token stop) {
  if (!m_settings.accumulate || m_run.candidateError) return base::success();
  m_progress->begin("other accumulation");
  const bool strict = *m_settings.accumulate == session::Accumulate::strict;
  const auto other = strict ? session::Accumulate::pessimistic : session::Accumulate::strict;
  torch::jit::Module module = copyForRun(m_model.module, m_settings.trainMode);
  m_accumulation.emplace(m_frame, outputs, [this, other, module](const Batch& batch) mutable {
    const auto executor = candidateExecutor(other);
    return runForward(candidateSetup(module, *executor, argumentsFor(m_set, batch)), {});
  });
  return m_accumulation->measure(*m_progress, stop);
}

void RunDriver::finish(RunOutcome& outcome, const Comparison& comparison, const OutputCollector& outputs) {
  comparison.describe(m_run, outcome.metrics);
  for (const auto& [key, number] : comparison.siteNumbers()) {
    session::SiteSummary& site = m_run.sites[static_cast<std::size_t>(number)];
    if (m_floor) site.noiseFloorRelL2 = m_floor->at(key);
    if (m_referee) site.referenceErrorToFp64 = m_referee->referenceError(key);
    if (m_referee) site.candidateErrorToFp64 = m_referee->candidateError(key);
  }
  findFirstValues(outcome);
  findRootCauses(comparison);
  m_run.outputs = outputs.summaries();
  m_run.controlFlow.insert(m_run.controlFlow.end(), outputs.differences().begin(), outputs.differences().end());
  for (const std::int64_t sample : outputs.nonfiniteSamples()) m_run.nonfiniteSamples.push_back(m_set.samples.ids[static_cast<std::size_t>(sample)]);
  outcome.outputs = outputs.tensors();
  if (const auto names = outputs.notStored(); !names.empty())
    m_run.warnings.push_back("not stored, since no axis counts the samples: output " + base::quotedChoice(names));
  outcome.model = m_model.info;
  outcome.samples = m_allSamples;
  explainReference();
}

}  // namespace ulpscope::engine
