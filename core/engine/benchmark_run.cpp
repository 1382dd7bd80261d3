#include "core/engine/benchmark_run.h"

#include "core/analysis/speed.h"
#include "core/base/number_text.h"
#include "core/engine/blas_threads.h"
#include "core/engine/fused_layers.h"
#include "core/engine/machine.h"
#include "core/engine/peak_meter.h"
#include "core/engine/run_driver.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>

namespace ulpscope::engine {
namespace {

using analysis::kFewestPairs;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr int kMostThreads = 1024;

std::string shownSide(const PlainSide& side) { return side.autocast ? "BF16" : "FP32"; }

}  // namespace

Status checkNumbers(int pairs, int threads) {
  if (pairs < kFewestPairs) return Error{ErrorKind::usage, fmt::format("must be at least {}", kFewestPairs), fmt::format("--pairs {}", pairs), ""};
  if (threads > kMostThreads) return Error{ErrorKind::usage, fmt::format("must be at most {}", kMostThreads), fmt::format("--threads {}", threads), ""};
  return base::success();
}

session::BenchmarkConditions conditionsOf(const session::RunSettings& settings, const PolicyTable& table, int threads) {
  session::BenchmarkConditions c;
  c.mode = session::name(settings.mode);
  c.autocast = base::name(settings.autocast);
  c.policyTable = table.name();
  c.fp32 = settings.fp32;
  c.disable = settings.disable;
  c.castCache = settings.castCache;
  c.trainMode = settings.trainMode;
  c.warmUpPairs = kWarmUpPairs;
  c.threads = threads;
  c.processors = usableProcessors();
  c.processor = processorName();
  c.bfloat16Instructions = bfloat16Instructions();
  c.loadBefore = loadAverage();
  c.libtorch = TORCH_VERSION;
  c.blas = Engine::facts().blas;
  return c;
}

std::vector<std::string> machineNotes(const session::BenchmarkConditions& c) {
  constexpr double kRestingLoad = 0.5;  // measuring memory, which goes before, adds less to the minute's average
  std::vector<std::string> notes;
  if (c.loadBefore > kRestingLoad) notes.push_back(fmt::format("the machine was not at rest: its load over the minute before the timing was {}", base::shortNumber(c.loadBefore)));
  if (c.threads > c.processors) notes.push_back(fmt::format("{} threads of each side shared {}: they waited for each other", c.threads, base::counted(c.processors, "processor")));
  return notes;
}

std::vector<session::TimedInput> timedInputs(const ReferenceSet& set, Batch batch) {
  std::vector<session::TimedInput> inputs;
  const Arguments arguments = argumentsFor(set, batch);
  for (const auto& [name, input] : set.inputs) {
    const bool isTensor = input.tensor.defined();
    inputs.push_back({name, isTensor ? base::name(dtypeOf(input.tensor.scalar_type())) : std::string(), isTensor ? arguments.at(name).toTensor().sizes().vec() : std::vector<std::int64_t>()});
  }
  return inputs;
}

Status BenchmarkRun::prepare() {
  if (auto right = checkNumbers(m_order.pairs, m_order.threads); !right) return right;
  const session::RunSettings& settings = m_order.request.settings;
  auto set = loadReferenceSet(m_order.request, m_model);
  if (!set) return set.error();
  m_set = std::move(set).value();
  if (m_order.open)
    if (auto opened = m_order.open(m_model.info, m_set.samples); !opened) return opened;
  auto regions = RegionSet::make(settings.fp32, settings.disable, m_model.info, m_model.ops);
  if (!regions) return regions.error();
  if (regions->hasOpPatterns()) return Error{ErrorKind::input, "names an op site, which only interception can keep in FP32", "--fp32", "time a run whose FP32 regions are modules"};
  m_regions = std::move(regions).value();
  m_markers = needsMarkers(m_model, m_regions);
  m_batches = batchesOf(static_cast<std::int64_t>(m_set.samples.ids.size()), settings.batchSize);
  if (m_batches.size() > 1 && m_batches.back().size < m_batches.front().size) m_batches.pop_back();
  return base::success();
}

BenchmarkRun::Runner BenchmarkRun::runner(TimedSide side) const {
  const bool autocast = side == TimedSide::candidate;
  return {{&m_model, autocast ? &m_regions : &m_noRegions, autocast, m_order.request.settings.castCache, m_order.threads}, copyForRun(m_model.module, m_order.request.settings.trainMode)};
}

void BenchmarkRun::tell(const std::string& stage, int done, int total) const {
  const std::int64_t size = m_batches.front().size;
  if (m_progress) m_progress({stage, "", "", done * size, total * size});
}

Status BenchmarkRun::forward(Runner& who, std::int64_t batch, Times& times) const {
  const SideResult result = forwardPlainly(who.side, m_markers, who.module, argumentsFor(m_set, m_batches[static_cast<std::size_t>(batch)]), &times);
  if (!result.failed) return base::success();
  return Error{ErrorKind::run, "a forward in " + shownSide(who.side) + " failed without interception: " + result.error, m_model.info.path, "`ulpscope run` names the op"};
}

// No claim without its check: the run again, and what was timed held against it on every sample.
Status BenchmarkRun::recheck(TimedRun& timed, std::stop_token stop) const {
  RunHooks hooks;
  hooks.progress = m_progress;
  Runner reference = runner(TimedSide::reference), candidate = runner(TimedSide::candidate);
  bool same = true;
  const auto isSame = [&](Runner& who, Batch batch, const std::vector<NamedTensor>& seen) {
    const SideResult plain = forwardPlainly(who.side, m_markers, who.module, argumentsFor(m_set, batch));
    return !plain.failed && bitIdentical(flattenOutputs(plain.value), seen);
  };
  RunDriver driver(m_model, m_order.request, m_table, hooks);
  driver.useThreads(m_order.threads);
  driver.tellBatches([&](Batch batch, const auto& seenReference, const auto& seenCandidate) {
    same = same && isSame(reference, batch, seenReference) && isSame(candidate, batch, seenCandidate);
  });
  auto outcome = driver.run(stop);
  if (!outcome) return outcome.error();
  timed.recheck = std::move(outcome).value();
  if (same) return base::success();
  const std::string why = driver.whyPlainDiffers();
  timed.differs = why.empty() ? "the model's result hangs on more than its inputs: the same forward gave other bits" : why;
  return base::success();
}

session::BenchmarkConditions BenchmarkRun::conditions() const {
  session::BenchmarkConditions c = conditionsOf(m_order.request.settings, m_table, m_order.threads);
  c.work = "forward";
  c.interception = interceptionText(m_markers);
  c.batchSize = m_batches.front().size;
  c.inputs = timedInputs(m_set, m_batches.front());
  return c;
}

void BenchmarkRun::warn(TimedRun& timed) const {
  const bool fused = std::any_of(m_model.ops.begin(), m_model.ops.end(), [](const model::StaticOp& op) { return isOpened(op.op); });
  if (fused) timed.warnings.emplace_back("the model can take PyTorch's fused path for inference, which both sides left as they do under autocast: FP32 alone may be faster than it was here");
  const auto machine = machineNotes(timed.conditions);
  timed.warnings.insert(timed.warnings.end(), machine.begin(), machine.end());
}

Result<TimedRun> BenchmarkRun::time(std::stop_token stop) {
  if (auto prepared = prepare(); !prepared) return prepared.error();
  const BlasThreads blas(m_order.threads, kThreadsPerRun);
  TimedRun timed;
  timed.conditions = conditions();
  warn(timed);
  settleHeap();
  {
    Runner reference = runner(TimedSide::reference), candidate = runner(TimedSide::candidate);
    auto pairs = alternatingPairs({m_order.pairs, static_cast<std::int64_t>(m_batches.size()), [&](bool isCandidate, std::int64_t batch, Times& times) { return forward(isCandidate ? candidate : reference, batch, times); },
                                   [&](const std::string& stage, int done, int total) { tell(stage, done, total); }},
                                  stop);
    if (!pairs) return pairs.error();
    if (std::string note = faultsNote(pairs.value(), "forward"); !note.empty()) timed.warnings.push_back(std::move(note));
    timed.pairs = std::move(pairs.value().pairs);
  }
  timed.conditions.loadAfter = loadAverage();
  if (auto checked = recheck(timed, stop); !checked) return checked.error();
  return timed;
}

Result<session::PeakMemory> BenchmarkRun::peak(TimedSide side, std::stop_token stop) {
  if (auto prepared = prepare(); !prepared) return prepared.error();
  const BlasThreads blas(m_order.threads, kThreadsPerRun);
  Runner only = runner(side);
  const PeakMeter meter;
  for (int i = 0; i < kPeakForwards; ++i) {
    if (stop.stop_requested()) return cancelledError();
    tell("measuring memory of " + shownSide(only.side), i, kPeakForwards);
    Times times;
    if (auto done = forward(only, i % static_cast<std::int64_t>(m_batches.size()), times); !done) return done.error();
  }
  session::PeakMemory memory = meter.read();
  memory.forwards = kPeakForwards;
  return memory;
}

}  // namespace ulpscope::engine
