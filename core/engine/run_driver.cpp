#include "core/engine/run_driver.h"

#include "core/analysis/diagnosis.h"
#include "core/base/clock.h"
#include "core/base/number_text.h"
#include "core/engine/run_decisions.h"
#include "core/engine/run_subset.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

// What the stages cost, in forwards of the reference.
constexpr double kLockstepCost = 4, kFloorCost = 1.5, kRefereeCost = 8, kAccumulationCost = 2, kProbeCost = 3;

// Tells progress at each meeting, then lets the comparison work.
class ReportingObserver : public MeetingObserver {
 public:
  ReportingObserver(Comparison& comparison, RunProgress& progress, Batch batch, std::size_t opsInAForward)
      : m_comparison(comparison), m_progress(progress), m_batch(batch), m_ops(opsInAForward) {}
  void meet(OpEvent& reference, OpEvent& candidate) override {
    const double part = m_ops == 0 ? 0 : std::min(1.0, static_cast<double>(m_met++) / static_cast<double>(m_ops));
    m_progress.at(m_batch, part, reference.modulePath, reference.op);
    m_comparison.meet(reference, candidate);
  }
  void alone(Side side, OpEvent& event) override { m_comparison.alone(side, event); }

 private:
  Comparison& m_comparison;
  RunProgress& m_progress;
  Batch m_batch;
  std::size_t m_ops, m_met = 0;
};

// oneDNN's bfloat16 kernels, which accumulate in float32, need it (mkldnn_bf16_device_check of ATen).
bool addsUpInFloat() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return true;
#endif
}

std::vector<at::Tensor> tensorsOf(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& n : named) tensors.push_back(n.tensor);
  return tensors;
}

}  // namespace

RunDriver::RunDriver(const LoadedModel& model, const session::RunRequest& request, const PolicyTable& table, const RunHooks& hooks)
    : m_model(model), m_request(request), m_settings(request.settings), m_table(table), m_hooks(hooks), m_frame{m_model, m_settings, m_set, m_batches, m_axes} {}

ForwardSetup RunDriver::candidateSetup(torch::jit::Module& module, OpExecutor& executor, Arguments arguments) {
  ForwardSetup setup = m_frame.reference(module, executor, std::move(arguments));
  setup.regions = &m_regions;
  setup.device = m_table.device();
  return setup;
}

Status RunDriver::prepareSamples() {
  auto set = loadReferenceSet(m_request, m_model);
  if (!set) return set.error();
  m_set = std::move(set).value();
  m_allSamples = m_set.samples;
  if (!m_settings.onlySamples.empty())
    if (auto chosen = restrictTo(m_set, m_settings.onlySamples); !chosen) return chosen;
  if (m_settings.batchSize < 1)
    return Error{ErrorKind::usage, "must be at least 1", fmt::format("--batch-size {}", m_settings.batchSize), ""};
  m_batches = batchesOf(static_cast<std::int64_t>(m_set.samples.ids.size()), m_settings.batchSize);
  return base::success();
}

Status RunDriver::prepare() {
  auto regions = RegionSet::make(m_settings.fp32, m_settings.disable, m_model.info, m_model.ops);
  if (!regions) return regions.error();
  m_regions = regions.value();
  if (auto samples = prepareSamples(); !samples) return samples;
  m_referenceModule = copyForRun(m_model.module, m_settings.trainMode);
  m_candidateModule = copyForRun(m_model.module, m_settings.trainMode);
  for (const auto& parameter : m_model.module.named_parameters()) m_parameters.push_back({parameter.name, parameter.value, parameter.value._version()});
  m_executor = candidateExecutor();
  m_run.createdUtc = base::utcNow();
  m_run.settings = m_settings;
  if (!m_settings.onlySamples.empty()) m_run.settings.onlySamples = m_set.samples.ids;  // each once, in the set's order
  m_run.libtorchVersion = TORCH_VERSION;
  m_run.policyTable = m_table.name();
  m_run.threadsPerRun = m_frame.threads;
  m_run.warnings = m_model.info.warnings;
  m_run.unresolvedCalls = m_model.unresolvedCalls;
  if (m_settings.mode == session::Mode::native && !addsUpInFloat())
    m_run.warnings.emplace_back("this processor has no AVX-512, so LibTorch adds up bfloat16 products in bfloat16: errors are larger than on one that has it, or on a GPU");
  return openWriter();
}

Status RunDriver::openWriter() {
  if (m_hooks.open) {
    auto writer = m_hooks.open(m_model.info, m_allSamples);
    if (!writer) return writer.error();
    m_writer = writer.value();
  }
  if (m_settings.capture.empty()) return base::success();
  if (!m_writer) return Error{ErrorKind::usage, "needs a session to store to", "--capture", ""};
  auto capture = Capture::make(m_settings, m_model, *m_writer, static_cast<std::int64_t>(m_set.samples.ids.size()));
  if (!capture) return capture.error();
  m_capture = std::move(capture).value();
  return base::success();
}

void RunDriver::planProgress() {
  m_progress.emplace(m_hooks.progress, static_cast<std::int64_t>(m_set.samples.ids.size()));
  if (m_batches.front().size > 1) m_progress->plan("finding sample axes", 6.0 / static_cast<double>(m_batches.size()));
  m_progress->plan("running", kLockstepCost);
  if (m_settings.verifyProbe) m_progress->plan("checking the probe", kProbeCost / static_cast<double>(m_batches.size()));
  if (m_settings.noiseFloor) m_progress->plan("noise floor", kFloorCost);
  if (m_settings.accumulate) m_progress->plan("other accumulation", kAccumulationCost);
  if (m_settings.referee) m_progress->plan("referee in float64", kRefereeCost);
}

// Parameters are shared by all runs, read-only: one that writes them would change the other's numbers.
Status RunDriver::checkParametersUntouched() const {
  for (const Parameter& parameter : m_parameters)
    if (parameter.value._version() != parameter.version)
      return Error{ErrorKind::run, "the model writes its parameter in place during forward, so the two runs cannot be compared", parameter.name,
                   "keep such state in a buffer (register_buffer)"};
  return base::success();
}

void RunDriver::judgeInputs() {
  const auto judge = [&](const std::string& stage, const std::string& name, const at::Tensor& tensor) {
    if (!isReadable(tensor) || !isInexact(tensor)) return;
    const analysis::RangeSummary summary = analysis::rangeOf(viewOf(tensor).view);
    if (summary.nonfinite.total() == 0) return;
    session::NonfiniteFinding finding;
    finding.stage = stage;
    finding.op = name;
    finding.counts = summary.nonfinite;
    finding.cause = "non-finite in FP32 already";
    finding.reference = summary.range;
    finding.diagnosis = fmt::format("{} '{}' holds {} before anything ran", stage, name, base::counted(summary.nonfinite.total(), "non-finite value"));
    m_run.referenceNonfinite.push_back(std::move(finding));
  };
  for (const auto& [name, input] : m_set.inputs) judge("input", name, input.tensor);
  for (const auto& p : m_model.module.named_parameters()) judge("parameter", p.name, p.value);
}

Status RunDriver::probeOnce(const std::vector<std::int64_t>& samples, std::stop_token stop) {
  const Batch batch = m_batches.front();
  torch::jit::Module before = copyForRun(m_model.module, m_settings.trainMode);
  torch::jit::Module after = copyForRun(m_model.module, m_settings.trainMode);
  ReferenceExecutor first, second;  // one a thread
  const bool looksAtOps = m_settings.observe != session::Observe::outputs;
  const auto side = [&](torch::jit::Module& module, ReferenceExecutor& executor, const Arguments& arguments) -> SideFunction {
    return [&, arguments](const EventSink& sink) { return runForward(m_frame.reference(module, executor, arguments), looksAtOps ? sink : EventSink()); };
  };
  const SideFunction one = side(before, first, argumentsFor(m_set, batch)), other = side(after, second, argumentsFor(m_set, samples));
  const PairResult pair = looksAtOps ? runPair(one, other, m_axes, stop) : runInTurn(one, other, stop);
  if (pair.cancelled) return cancelledError();
  if (auto untouched = checkParametersUntouched(); !untouched) return untouched;
  if (pair.reference.failed) return referenceFailed(m_model, m_set, pair.reference);
  m_axes.noteRandomNumbers(pair.reference.drewRandomNumbers);
  if (!pair.candidate.failed)
    m_axes.addModelOutputs(tensorsOf(flattenOutputs(pair.reference.value)), tensorsOf(flattenOutputs(pair.candidate.value)));
  return base::success();
}

Status RunDriver::findAxes(std::stop_token stop) {
  const std::int64_t size = m_batches.front().size;
  if (size < 2) return base::success();
  std::vector<std::int64_t> batch(static_cast<std::size_t>(size));
  std::iota(batch.begin(), batch.end(), 0);
  // Two probes at different places tell axes of equal size apart; each replaces a sample by a different one of the set.
  for (const std::int64_t replaced : {size - 1, std::int64_t{0}}) {
    const auto by = replacementFor(m_set, replaced);
    if (!by) continue;
    std::vector<std::int64_t> changed = batch;
    changed[static_cast<std::size_t>(replaced)] = *by;
    m_axes.beginProbe({size, replaced});
    if (auto status = probeOnce(changed, stop); !status) return status;
  }
  // One less, from last to first: shapes shrink, and who is sorted by content does not follow. Of two samples both are needed for that.
  std::vector<std::int64_t> order(batch.rbegin(), batch.rend() - 1);
  m_axes.beginOrder(size, order);
  if (auto status = probeOnce(order, stop); !status) return status;
  if (size == 2) {
    m_axes.beginOrder(size, {1, 0});
    if (auto status = probeOnce({1, 0}, stop); !status) return status;
  }
  return base::success();
}

Result<PairResult> RunDriver::runBoth(Batch batch, Comparison& comparison, std::stop_token stop) try {
  std::vector<std::string> brokenAliases;
  const Arguments arguments = argumentsFor(m_set, batch);
  const bool looksAtOps = m_settings.observe != session::Observe::outputs;
  ReportingObserver observer(comparison, *m_progress, batch, m_axes.siteCount());
  comparison.beginBatch(batch);
  if (batch.first == 0 && looksAtOps) m_operands.begin(m_referenceModule, m_candidateModule);
  m_progress->at(batch, 0, "", "");
  const SideFunction referenceSide = [&](const EventSink& sink) {
    ForwardSetup setup = m_frame.reference(m_referenceModule, m_plain, arguments);
    setup.descriptions = &m_referenceDescriptions;
    setup.origins = &m_operands.of(Side::reference);
    if (looksAtOps) setup.onReturn = [&](const std::string& path, const c10::IValue& value) { comparison.moduleReturned(path, value); };
    return runForward(setup, sink);
  };
  const SideFunction candidateSide = [&](const EventSink& sink) {
    ForwardSetup setup = candidateSetup(m_candidateModule, *m_executor, arguments);
    setup.brokenAliases = &brokenAliases;
    setup.descriptions = &m_candidateDescriptions;
    setup.origins = &m_operands.of(Side::candidate);
    return runForward(setup, sink);
  };
  PairResult pair = looksAtOps ? runPair(referenceSide, candidateSide, observer, stop) : runInTurn(referenceSide, candidateSide, stop);
  m_operands.end();
  for (const std::string& path : brokenAliases)
    warnOnce("alias broken by the border cast at " + (path.empty() ? "the root" : path) + ": the module writes its input in place, the caller does not see it");
  if (!m_plain.firstLowOp().empty() && !m_referenceHoldsLow) {
    m_referenceHoldsLow = true;
    m_run.warnings.push_back("not pure FP32: the model's own code computes in 16 bits in both runs, first at " + m_plain.firstLowOp());
  }
  if (!pair.reference.opened.empty()) {
    m_openedFusedOps = true;
    warnOnce(pair.reference.opened + " stands in the file, from a trace without gradients: both runs compute it op by op, as PyTorch does under autocast");
  }
  return pair;
} catch (const CaptureFailed& failed) {
  return failed.error;
}

void RunDriver::warnOnce(const std::string& warning) {
  if (std::find(m_run.warnings.begin(), m_run.warnings.end(), warning) == m_run.warnings.end()) m_run.warnings.push_back(warning);
}

Status RunDriver::runBatch(Batch batch, Comparison& comparison, OutputCollector& outputs, std::stop_token stop) {
  auto both = runBoth(batch, comparison, stop);
  if (!both) return both.error();
  const PairResult& pair = both.value();
  if (pair.cancelled || stop.stop_requested()) return cancelledError();
  if (auto untouched = checkParametersUntouched(); !untouched) return untouched;
  if (pair.reference.failed) return referenceFailed(m_model, m_set, pair.reference);
  if (pair.candidate.unsupported)
    return Error{ErrorKind::input, pair.candidate.error, whereText(pair.candidate), "keep that module in FP32 (--fp32 PATH)"};
  m_loweredOps = m_executor->loweredOps();
  if (pair.candidate.failed) {
    m_run.candidateError = session::CandidateError{pair.candidate.op, pair.candidate.modulePath, pair.candidate.error};
    m_run.status = session::RunStatus::partial;
    comparison.endBatch({});
    return base::success();
  }
  m_drewRandomNumbers = m_drewRandomNumbers || pair.reference.drewRandomNumbers;
  const auto reference = flattenOutputs(pair.reference.value);
  const auto candidate = flattenOutputs(pair.candidate.value);
  comparison.moduleReturned("", pair.reference.value);
  comparison.endBatch(tensorsOf(candidate));
  outputs.add(batch, reference, candidate);
  if (m_batchTold) m_batchTold(batch, reference, candidate);
  if (batch.first == 0) {
    if (auto status = checkClasses(m_settings, outputs, m_set.samples); !status) return status;
    m_firstReference = reference;
    m_firstCandidate = candidate;
  }
  m_run.samplesComplete += batch.size;
  return base::success();
}

Status RunDriver::runBatches(Comparison& comparison, OutputCollector& outputs, std::stop_token stop) {
  m_progress->begin("running");
  m_nextCheckpoint = std::chrono::steady_clock::now() + kCheckpointInterval;
  for (const Batch& batch : m_batches) {
    if (auto status = runBatch(batch, comparison, outputs, stop); !status) return status;
    if (m_run.candidateError) break;
    m_live->after(comparison, m_run.samplesComplete);
    if (auto status = checkpoint(comparison); !status) return status;
  }
  m_live->flush(comparison, m_run.samplesComplete);
  if (m_loweredOps == 0 && !m_run.candidateError) return nothingAutocast(m_settings, m_regions);
  return base::success();
}

Result<RunOutcome> RunDriver::run(std::stop_token stop) {
  m_start = std::chrono::steady_clock::now();
  const at::NoGradGuard noGrad;
  if (auto status = prepare(); !status) return status.error();
  planProgress();
  judgeInputs();
  m_live.emplace(m_hooks, m_set.chosen);
  m_live->begin(m_model.info, m_allSamples.ids);
  m_progress->begin("finding sample axes");
  if (auto status = findAxes(stop); !status) return status.error();
  const IntroducedError introduced(candidateExecutor(), m_table.device());
  Comparison comparison(m_set.samples, m_settings.autocast, m_axes, m_settings.observe == session::Observe::full ? &introduced : nullptr);
  if (m_capture) comparison.captureTo(&*m_capture);
  comparison.traceOperands(&m_operands);
  OutputCollector outputs(m_settings.autocast, m_axes);
  if (auto status = runBatches(comparison, outputs, stop); !status) return status.error();
  if (!m_run.candidateError) {
    auto eager = outputs.checkEager(m_set.expected, m_set.chosen);
    if (!eager) return eager.error();
    m_run.eagerCheck = eager.value();
  }
  if (auto status = verifyProbe(); !status) return status.error();
  if (auto status = measureNoiseFloor(outputs, stop); !status) return status.error();
  if (auto status = measureAccumulation(outputs, stop); !status) return status.error();
  if (auto status = measureReferee(stop); !status) return status.error();
  RunOutcome outcome;
  finish(outcome, comparison, outputs);
  m_run.elapsedSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  outcome.run = std::move(m_run);
  if (auto status = decide(outcome, outputs, m_set.samples, m_floor ? &*m_floor : nullptr); !status) return status.error();
  if (m_accumulation) outcome.run.accumulation = m_accumulation->summary(outcome.run, m_set.samples);
  spreadOver(m_allSamples, m_set.samples, outcome);
  return outcome;
}

}  // namespace ulpscope::engine
