#include "core/engine/run_driver.h"

#include "core/analysis/diagnosis.h"
#include "core/analysis/flips.h"
#include "core/base/clock.h"
#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr int kThreadsPerRun = 1;

const Error kCancelled{ErrorKind::cancelled, "cancelled", "run", "earlier results are kept"};

std::string whereText(const SideResult& side) {
  const std::string module = side.modulePath.empty() ? "the root module" : side.modulePath;
  return side.op.empty() ? module : side.op + " in " + module;
}

// Tells progress at each meeting, then lets the comparison work.
class ReportingObserver : public MeetingObserver {
 public:
  ReportingObserver(Comparison& comparison, const base::ProgressSink& sink, base::Progress progress)
      : m_comparison(comparison), m_sink(sink), m_progress(std::move(progress)) {}
  void meet(OpEvent& reference, OpEvent& candidate) override {
    if (m_sink) {
      m_progress.modulePath = reference.modulePath;
      m_progress.op = reference.op;
      m_sink(m_progress);
    }
    m_comparison.meet(reference, candidate);
  }
  void alone(Side side, OpEvent& event) override { m_comparison.alone(side, event); }

 private:
  Comparison& m_comparison;
  const base::ProgressSink& m_sink;
  base::Progress m_progress;
};

std::vector<at::Tensor> tensorsOf(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& n : named) tensors.push_back(n.tensor);
  return tensors;
}

bool bitIdentical(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].tensor.sizes() != b[i].tensor.sizes() || a[i].tensor.scalar_type() != b[i].tensor.scalar_type()) return false;
    const at::Tensor x = a[i].tensor.contiguous();
    const at::Tensor y = b[i].tensor.contiguous();
    if (std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) != 0) return false;
  }
  return true;
}

}  // namespace

RunDriver::RunDriver(const LoadedModel& model, const session::RunRequest& request, const PolicyTable& table)
    : m_model(model), m_request(request), m_settings(request.settings), m_table(table) {}

EmulatedExecutor::Options RunDriver::emulation() const { return {&m_table, scalarTypeOf(m_settings.autocast), &m_regions, m_settings.castCache}; }

ForwardSetup RunDriver::referenceSetup(torch::jit::Module& module, OpExecutor& executor, Arguments arguments) const {
  return {&module, &m_model.aliases, &m_noRegions, &executor, std::move(arguments), m_settings.seed, kThreadsPerRun, nullptr};
}

ForwardSetup RunDriver::candidateSetup(torch::jit::Module& module, OpExecutor& executor, Arguments arguments) {
  return {&module, &m_model.aliases, &m_regions, &executor, std::move(arguments), m_settings.seed, kThreadsPerRun, nullptr};
}

// What PyTorch said, and what the model was given, with which dtypes its parameters have.
Error RunDriver::referenceFailed(const SideResult& reference) const {
  std::string given;
  for (const auto& [name, input] : m_set.inputs)
    if (input.tensor.defined())
      given += fmt::format("{}{} {} {}", given.empty() ? "" : ", ", name, base::name(dtypeOf(input.tensor.scalar_type())), shapeText(input.tensor.sizes()));
  std::set<std::string> parameters;
  for (const auto& p : m_model.module.named_parameters()) parameters.insert(isKnown(p.value.scalar_type()) ? base::name(dtypeOf(p.value.scalar_type())) : "other");
  const bool low = parameters.count("float16") > 0 || parameters.count("bfloat16") > 0;
  return Error{ErrorKind::run, "the FP32 reference failed: " + reference.error, whereText(reference),
               (low ? "export the FP32 model (model.float()): Ulpscope lowers the precision itself; " : "") +
                   fmt::format("the model was given {}; its parameters are {}", given, parameters.empty() ? "none" : fmt::format("{}", fmt::join(parameters, ", ")))};
}

Status RunDriver::prepare() {
  auto regions = RegionSet::make(m_settings.fp32, m_settings.disable, m_model.info, m_model.ops);
  if (!regions) return regions.error();
  m_regions = regions.value();
  auto set = loadReferenceSet(m_request, m_model);
  if (!set) return set.error();
  m_set = std::move(set).value();
  if (m_settings.batchSize < 1)
    return Error{ErrorKind::usage, "must be at least 1", fmt::format("--batch-size {}", m_settings.batchSize), ""};
  const auto samples = static_cast<std::int64_t>(m_set.samples.ids.size());
  for (std::int64_t first = 0; first < samples; first += m_settings.batchSize)
    m_batches.push_back({first, std::min<std::int64_t>(m_settings.batchSize, samples - first)});
  m_referenceModule = copyForRun(m_model.module, m_settings.trainMode);
  m_candidateModule = copyForRun(m_model.module, m_settings.trainMode);
  for (const auto& parameter : m_model.module.named_parameters()) m_parameterVersions.emplace_back(parameter.name, parameter.value._version());
  m_run.createdUtc = base::utcNow();
  m_run.settings = m_settings;
  m_run.libtorchVersion = TORCH_VERSION;
  m_run.policyTable = m_table.name();
  m_run.threadsPerRun = kThreadsPerRun;
  m_run.warnings = m_model.info.warnings;
  m_run.unresolvedCalls = m_model.unresolvedCalls;
  return base::success();
}

// Parameters are shared by all runs, read-only: one that writes them would change the other's numbers.
Status RunDriver::checkParametersUntouched() const {
  std::size_t i = 0;
  for (const auto& parameter : m_model.module.named_parameters())
    if (parameter.value._version() != m_parameterVersions[i++].second)
      return Error{ErrorKind::run, "the model writes its parameter in place during forward, so the two runs cannot be compared", parameter.name,
                   "keep such state in a buffer (register_buffer)"};
  return base::success();
}

void RunDriver::judgeInputs() {
  const auto judge = [&](const std::string& stage, const std::string& name, const at::Tensor& tensor) {
    if (!isReadable(tensor) || !tensor.is_floating_point()) return;
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
  ReferenceExecutor plain;
  const auto side = [&](torch::jit::Module& module, const Arguments& arguments) -> SideFunction {
    return [&, arguments](const EventSink& sink) { return runForward(referenceSetup(module, plain, arguments), sink); };
  };
  const PairResult pair = runPair(side(before, argumentsFor(m_set, batch)), side(after, argumentsFor(m_set, samples)), m_axes, stop);
  if (pair.cancelled) return kCancelled;
  if (auto untouched = checkParametersUntouched(); !untouched) return untouched;
  if (pair.reference.failed) return referenceFailed(pair.reference);
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

Status RunDriver::runBatch(Batch batch, Comparison& comparison, OutputCollector& outputs, const base::ProgressSink& progress, std::stop_token stop) {
  const auto all = static_cast<std::int64_t>(m_set.samples.ids.size());
  ReferenceExecutor plain;
  EmulatedExecutor emulated(emulation());
  std::vector<std::string> brokenAliases;
  const Arguments arguments = argumentsFor(m_set, batch);
  ReportingObserver observer(comparison, progress, {"running", "", "", batch.first, all});
  comparison.beginBatch(batch);
  const PairResult pair = runPair(
      [&](const EventSink& sink) { return runForward(referenceSetup(m_referenceModule, plain, arguments), sink); },
      [&](const EventSink& sink) {
        ForwardSetup setup = candidateSetup(m_candidateModule, emulated, arguments);
        setup.brokenAliases = &brokenAliases;
        return runForward(setup, sink);
      },
      observer, stop);
  if (pair.cancelled) return kCancelled;
  if (auto untouched = checkParametersUntouched(); !untouched) return untouched;
  if (pair.reference.failed) return referenceFailed(pair.reference);
  if (pair.candidate.unsupported)
    return Error{ErrorKind::input, pair.candidate.error, whereText(pair.candidate), "keep that module in FP32 (--fp32 PATH)"};
  m_loweredOps += emulated.loweredOps();
  if (pair.candidate.failed) {
    m_run.candidateError = session::CandidateError{pair.candidate.op, pair.candidate.modulePath, pair.candidate.error};
    m_run.status = session::RunStatus::partial;
    comparison.endBatch({});
    return base::success();
  }
  for (const std::string& path : brokenAliases) {
    const std::string warning = "alias broken by the border cast at " + (path.empty() ? "the root" : path) + ": the module writes its input in place, the caller does not see it";
    if (std::find(m_run.warnings.begin(), m_run.warnings.end(), warning) == m_run.warnings.end()) m_run.warnings.push_back(warning);
  }
  m_drewRandomNumbers = m_drewRandomNumbers || pair.reference.drewRandomNumbers;
  const auto reference = flattenOutputs(pair.reference.value);
  const auto candidate = flattenOutputs(pair.candidate.value);
  comparison.endBatch(tensorsOf(candidate));
  if (auto status = outputs.add(batch, reference, candidate); !status) return status;
  if (batch.first == 0) {
    m_firstReference = reference;
    m_firstCandidate = candidate;
  }
  m_run.samplesComplete += batch.size;
  return base::success();
}

Status RunDriver::runBatches(Comparison& comparison, OutputCollector& outputs, const base::ProgressSink& progress, std::stop_token stop) {
  for (const Batch& batch : m_batches) {
    if (auto status = runBatch(batch, comparison, outputs, progress, stop); !status) return status;
    if (m_run.candidateError) break;
  }
  if (m_loweredOps == 0 && !m_run.candidateError)
    return Error{ErrorKind::inconclusive, "nothing was autocast: no op of the candidate ran in " + base::name(m_settings.autocast), "run",
                 m_regions.empty() ? "no op that ran with autocast on is on the lower_precision_fp list (ulpscope inspect lists them; a model's own "
                                     "autocast(enabled=False) counts as off)"
                                   : "take a module out of the FP32 regions"};
  return base::success();
}

Status RunDriver::verifyProbe() {
  if (!m_settings.verifyProbe || m_firstReference.empty()) return base::success();
  torch::jit::Module reference = copyForRun(m_model.module, m_settings.trainMode);
  torch::jit::Module candidate = copyForRun(m_model.module, m_settings.trainMode);
  ReferenceExecutor plain;
  EmulatedExecutor emulated(emulation());
  const Arguments arguments = argumentsFor(m_set, m_batches.front());
  // A plain run draws other random numbers than ours, which are seeded op by op: then the hook stays and only the observer goes.
  const ForwardSetup bareSetup = referenceSetup(reference, plain, arguments);
  const SideResult bare = m_drewRandomNumbers ? runForward(bareSetup, {}) : runPlain(bareSetup);
  const SideResult unobserved = runForward(candidateSetup(candidate, emulated, arguments), {});
  const bool identical = !bare.failed && !unobserved.failed && bitIdentical(flattenOutputs(bare.value), m_firstReference) &&
                         bitIdentical(flattenOutputs(unobserved.value), m_firstCandidate);
  m_run.probeCheck = identical ? "identical" : "differs";
  if (!identical) m_run.warnings.push_back("probe check: outputs with and without observation differ; do not trust this run");
  return base::success();
}

void RunDriver::warnOfLabelsBeyond(std::int64_t classes) {
  const auto& labels = m_set.samples.labels;
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](std::int64_t label) { return label < 0 || label >= classes; });
  if (wrong == labels.end()) return;
  m_run.warnings.push_back(fmt::format("label {} of sample {} is no class of the output (0 to {}): what flips did to it is not to be trusted", *wrong,
                                       m_set.samples.ids[static_cast<std::size_t>(wrong - labels.begin())], classes - 1));
}

Status RunDriver::decide(RunOutcome& outcome, const OutputCollector& outputs) {
  if (m_settings.decision.kind == session::DecisionRule::Kind::none) return base::success();
  if (m_run.candidateError) return base::success();  // nothing to decide between
  const OutputCollector::Output* chosen = nullptr;
  std::vector<std::string> names;
  for (const auto& output : outputs.outputs()) {
    names.push_back(output.name);
    const bool wanted = m_settings.decisionOutput.empty() ? base::isFloating(output.candidateDtype) : output.name == m_settings.decisionOutput;
    if (wanted && !chosen) chosen = &output;
  }
  if (names.empty()) return Error{ErrorKind::usage, "the model returns no tensor to decide by", "--decision " + m_settings.decision.text(), "run it without --decision"};
  if (!chosen && m_settings.decisionOutput.empty())
    return Error{ErrorKind::usage, "no output has floating-point scores: " + base::quotedChoice(names), "--decision " + m_settings.decision.text(), "run it without --decision"};
  if (!chosen)
    return Error{ErrorKind::usage, "is no output of the model", "--decision-output " + m_settings.decisionOutput, "it has " + base::quotedChoice(names)};
  const at::Tensor a = chosen->joinedReference();
  if (!a.defined())
    return Error{ErrorKind::run, "no axis of it counts the samples one by one, so no decision can be read", "output '" + chosen->name + "'",
                 "choose another --decision-output, or try --batch-size 1"};
  const HeldView refView = viewOf(a);
  const HeldView candView = viewOf(chosen->joinedCandidate());
  auto result = analysis::argmaxFlips({refView.view, candView.view, chosen->sampleAxis, m_settings.decision.dim.value_or(-1)}, m_set.samples, m_settings.tie);
  if (!result) return result.error();
  m_run.flips = std::move(result->flips);
  m_run.decisions = std::move(result->decisions);
  m_run.noDecision = std::move(result->noDecision);
  warnOfLabelsBeyond(a.size(m_settings.decision.dim.value_or(-1)));
  if (!result->referenceNoDecision.empty())
    m_run.warnings.push_back(fmt::format("{} with NaN scores in FP32 itself: no decision to compare", base::counted(static_cast<std::int64_t>(result->referenceNoDecision.size()), "sample")));
  const std::int64_t samples = outcome.metrics.samples();
  for (session::Flip& flip : m_run.flips)
    for (std::int64_t site = 0; site < outcome.metrics.sites() && flip.firstSiteOverTolerance < 0; ++site)
      if (outcome.metrics.flags[static_cast<std::size_t>(site * samples + flip.sample)] & storage::kCellOverTolerance) flip.firstSiteOverTolerance = site;
  return base::success();
}

void RunDriver::finish(RunOutcome& outcome, Comparison& comparison, OutputCollector& outputs) {
  comparison.describe(m_run, outcome.metrics);
  m_run.outputs = outputs.summaries();
  outcome.outputs = outputs.tensors();
  outcome.model = m_model.info;
  outcome.samples = m_set.samples;
  for (const session::NonfiniteFinding& finding : m_run.referenceNonfinite) {
    if (finding.cause == kMaskConstant && finding.counts.nan == 0) continue;  // a mask's infinities are meant
    m_run.warnings.push_back("the FP32 reference itself has non-finite values: " + finding.diagnosis);
    break;
  }
}

Result<RunOutcome> RunDriver::run(const base::ProgressSink& progress, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const at::NoGradGuard noGrad;
  if (auto status = prepare(); !status) return status.error();
  judgeInputs();
  if (progress) progress({"finding sample axes", "", "", 0, static_cast<std::int64_t>(m_set.samples.ids.size())});
  if (auto status = findAxes(stop); !status) return status.error();
  const IntroducedError introduced(emulation());
  Comparison comparison(m_set.samples, m_settings.autocast, m_axes, m_settings.observe == session::Observe::full ? &introduced : nullptr);
  OutputCollector outputs(m_settings.autocast, m_axes);
  if (auto status = runBatches(comparison, outputs, progress, stop); !status) return status.error();
  if (!m_run.candidateError) {
    auto eager = outputs.checkEager(m_set.expected);
    if (!eager) return eager.error();
    m_run.eagerCheck = eager.value();
  }
  if (auto status = verifyProbe(); !status) return status.error();
  RunOutcome outcome;
  finish(outcome, comparison, outputs);
  if (auto status = decide(outcome, outputs); !status) return status.error();
  m_run.elapsedSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.run = std::move(m_run);
  return outcome;
}

}  // namespace ulpscope::engine
