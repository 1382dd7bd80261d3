#include "core/engine/scan_runs.h"

#include "core/analysis/decisions.h"
#include "core/base/number_text.h"
#include "core/engine/blas_threads.h"
#include "core/engine/noise_floor.h"
#include "core/engine/run_frame.h"
#include "core/engine/stoppable_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ulpscope::engine {
namespace {

using analysis::LookedAt;
using analysis::NoiseAtPoint;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

// FP32 in another place of the batch differs by its last bits; what hangs on its neighbours differs by orders more.
constexpr double kCoupled = 1e-3;

// Of FP32 in another order: changing the number of threads costs more than a small forward.
constexpr std::size_t kBatchesAtOnce = 16;

bool sameBits(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

// Names for the samples of a batch: the rule is checked against a batch as against any set.
session::SampleSet numbered(std::int64_t count) {
  session::SampleSet set;
  for (std::int64_t i = 0; i < count; ++i) set.ids.push_back(std::to_string(i));
  return set;
}

}  // namespace

ScanRuns::ScanRuns(const ScanFrame& frame, base::ProgressSink progress, std::stop_token stop)
    : m_frame(frame), m_progress(std::move(progress)), m_stop(stop), m_reader(frame.settings.decision, frame.settings.tie, frame.sampleAxis) {
  const session::RunSettings& settings = frame.settings;
  const auto plain = [&] { return Lane{copyForRun(frame.model.module, settings.trainMode), std::make_unique<StoppableExecutor>(std::make_unique<ReferenceExecutor>(), stop), &m_noRegions, "cuda"}; };
  m_reference = plain();
  m_floor = plain();
  auto lowering = candidateExecutor(settings, frame.table, frame.regions, settings.accumulate.value_or(session::Accumulate::strict));
  m_candidate = Lane{copyForRun(frame.model.module, settings.trainMode), std::make_unique<StoppableExecutor>(std::move(lowering), stop), &frame.regions, frame.table.device()};
}

void ScanRuns::beginStage(const std::string& stage, std::int64_t total) {
  m_stage = stage;
  m_done = 0;
  m_total = total;
}

Result<at::Tensor> ScanRuns::scoresOf(const SideResult& result) const {
  const std::string which = "output '" + m_frame.settings.decisionOutput + "'";
  for (const NamedTensor& output : flattenOutputs(result.value)) {
    if (output.name != m_frame.settings.decisionOutput) continue;
    if (!isReadable(output.tensor)) return Error{ErrorKind::run, "cannot be read", which, "choose another --decision-output"};
    if (m_frame.sampleAxis >= output.tensor.dim() || output.tensor.size(m_frame.sampleAxis) != m_frame.settings.batchSize)
      return Error{ErrorKind::run, fmt::format("has the shape {} for a batch of {}, so its axis {} does not count the samples", shapeText(output.tensor.sizes()), m_frame.settings.batchSize, m_frame.sampleAxis),
                   which, "scan with --batch-size as the run has it"};
    return output.tensor.contiguous();
  }
  return Error{ErrorKind::run, "is not given at a point of the scan", which, "choose another --decision-output"};
}

Result<at::Tensor> ScanRuns::forward(Lane& lane, const Arguments& arguments, int threads) {
  ForwardSetup setup;
  setup.module = &lane.module;
  setup.aliases = &m_frame.model.aliases;
  setup.regions = lane.regions;
  setup.executor = lane.executor.get();
  setup.arguments = arguments;
  setup.seed = m_frame.settings.seed;
  setup.threads = threads;
  setup.device = lane.device;
  const SideResult result = runForward(setup, {});
  if (m_stop.stop_requested()) return cancelledError();
  m_drewRandomNumbers = m_drewRandomNumbers || result.drewRandomNumbers;
  if (!result.failed) return scoresOf(result);
  const bool isCandidate = &lane == &m_candidate;
  if (isCandidate && result.unsupported) return Error{ErrorKind::input, result.error, whereText(result), "keep that module in FP32 (--fp32 PATH)"};
  return isCandidate ? Error{ErrorKind::run, "the candidate failed at a point of the scan: " + result.error, whereText(result), "`ulpscope run` shows it with its samples"}
                     : referenceFailed(m_frame.model, m_frame.set, result);
}

ScanRuns::Batches ScanRuns::batchesOf(const std::vector<PointOnWay>& points) const {
  const auto size = static_cast<std::size_t>(m_frame.settings.batchSize);
  Batches batches;
  for (std::size_t first = 0; first < points.size(); first += size)
    batches.emplace_back(points.begin() + static_cast<std::ptrdiff_t>(first), points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), first + size)));
  return batches;
}

Result<std::vector<NoiseAtPoint>> ScanRuns::noiseOf(const Batches& batches) {
  std::vector<at::Tensor> references;
  const auto full = [&](std::vector<PointOnWay> points) {
    points.resize(static_cast<std::size_t>(m_frame.settings.batchSize), points.back());
    return points;
  };
  for (const auto& points : batches) {
    auto scores = forward(m_reference, m_frame.inputs.argumentsFor(full(points)), kThreadsPerRun);
    if (!scores) return scores.error();
    references.push_back(scores.value());
  }
  std::vector<NoiseAtPoint> all;
  const BlasThreads blas(kFloorThreads, kThreadsPerRun);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    std::vector<PointOnWay> points = full(batches[i]);
    std::reverse(points.begin(), points.end());
    const auto scores = forward(m_floor, m_frame.inputs.argumentsFor(points), kFloorThreads);
    if (!scores) return scores.error();
    const at::Tensor turned = scores.value().flip({m_frame.sampleAxis}).contiguous();
    if (turned.sizes() != references[i].sizes()) return std::vector<NoiseAtPoint>();
    for (const NoiseAtPoint& point : m_reader.readNoise(viewOf(references[i]).view, viewOf(turned).view, static_cast<std::int64_t>(batches[i].size()))) all.push_back(point);
  }
  return all;
}

Result<std::vector<NoiseAtPoint>> ScanRuns::lookAtNoise(const std::vector<PointOnWay>& points) {
  const at::NoGradGuard noGrad;
  m_noise.skipped = m_drewRandomNumbers ? "the model draws random numbers, and in another order each point would get others" : "";
  if (m_drewRandomNumbers) return std::vector<NoiseAtPoint>();
  const Batches batches = batchesOf(points);
  std::vector<NoiseAtPoint> all;
  for (std::size_t first = 0; first < batches.size(); first += kBatchesAtOnce) {
    if (m_stop.stop_requested()) return cancelledError();
    if (m_progress) m_progress({"measuring the noise floor", "", "", static_cast<std::int64_t>(all.size()), static_cast<std::int64_t>(points.size())});
    const Batches some(batches.begin() + static_cast<std::ptrdiff_t>(first), batches.begin() + static_cast<std::ptrdiff_t>(std::min(batches.size(), first + kBatchesAtOnce)));
    const auto found = noiseOf(some);
    if (!found) return found;
    if (found->empty()) {
      m_noise = {"FP32 in another order gives another shape", 0};
      return found;
    }
    for (const NoiseAtPoint& point : found.value()) {
      m_noise.maxError = std::isnan(m_noise.maxError) ? point.error : std::max(m_noise.maxError, point.error);
      all.push_back(point);
    }
  }
  m_noise.threads = kFloorThreads;
  return all;
}

// Alone in its batch a point has the scores that it has among others.
Status ScanRuns::checkAlone(const std::vector<PointOnWay>& full, const at::Tensor& reference) {
  if (full.size() < 2) return base::success();
  const auto alone = forward(m_reference, m_frame.inputs.argumentsFor(std::vector<PointOnWay>(full.size(), full.front())), kThreadsPerRun);
  if (!alone) return alone.error();
  if (!reference.is_floating_point()) return base::success();
  const at::Tensor expected = reference.select(m_frame.sampleAxis, 0).to(at::kDouble).unsqueeze(m_frame.sampleAxis), got = alone.value().to(at::kDouble);
  const at::Tensor difference = (got - expected).abs();
  const double largest = at::where(difference.isfinite(), difference, at::zeros_like(difference)).max().item<double>();
  const double scale = at::where(expected.isfinite(), expected.abs(), at::zeros_like(expected)).max().item<double>();
  if (largest <= kCoupled * scale) return base::success();
  return Error{ErrorKind::run, fmt::format("a point's scores hang on what else is in its batch: they differ by {} of {} where it is alone", base::shortNumber(largest), base::shortNumber(scale)), "the scan",
               "use --batch-size 1; a model in train mode mixes the samples of a batch, or draws random numbers by place"};
}

Status ScanRuns::checkFirst(const at::Tensor& reference, const at::Tensor& candidate) {
  if (m_candidate.executor->loweredOps() == 0) return nothingAutocast(m_frame.settings, m_frame.regions);
  const HeldView a = viewOf(reference), b = viewOf(candidate);
  // Ties are refused where the points are read.
  const auto fits = analysis::decide({a.view, b.view, m_frame.sampleAxis}, m_frame.settings.decision, numbered(m_frame.settings.batchSize), session::TieRule::first);
  if (!fits) return fits.error();
  m_firstReference = reference.clone();
  m_firstCandidate = candidate.clone();
  return base::success();
}

Result<std::vector<LookedAt>> ScanRuns::lookAtBatch(std::vector<PointOnWay> points) {
  const auto count = static_cast<std::int64_t>(points.size());
  points.resize(static_cast<std::size_t>(m_frame.settings.batchSize), points.back());
  const Arguments arguments = m_frame.inputs.argumentsFor(points);
  const auto reference = forward(m_reference, arguments, kThreadsPerRun);
  if (!reference) return reference.error();
  const auto candidate = forward(m_candidate, arguments, kThreadsPerRun);
  if (!candidate) return candidate.error();
  if (candidate.value().sizes() != reference.value().sizes())
    return Error{ErrorKind::run, "has another shape in the other run", "output '" + m_frame.settings.decisionOutput + "'", "choose another --decision-output"};
  if (m_firstArguments.empty()) {
    if (auto good = checkFirst(reference.value(), candidate.value()); !good) return good.error();
    m_firstArguments = arguments;
    if (auto repeats = checkRepeats(); !repeats) return repeats.error();
    if (auto good = checkAlone(points, reference.value()); !good) return good.error();
  }
  const HeldView a = viewOf(reference.value()), b = viewOf(candidate.value());
  return m_reader.read(a.view, b.view, count);
}

Result<std::vector<LookedAt>> ScanRuns::look(const std::vector<PointOnWay>& points) {
  const at::NoGradGuard noGrad;
  std::vector<LookedAt> all;
  for (std::vector<PointOnWay>& batch : batchesOf(points)) {
    if (m_stop.stop_requested()) return cancelledError();
    if (m_progress) m_progress({m_stage, "", "", m_done, m_total});
    m_done += static_cast<std::int64_t>(batch.size());
    m_evaluations += static_cast<std::int64_t>(batch.size());
    auto looked = lookAtBatch(std::move(batch));
    if (!looked) return looked;
    for (LookedAt& point : looked.value()) all.push_back(std::move(point));
  }
  return all;
}

Status ScanRuns::checkRepeats() {
  const at::NoGradGuard noGrad;
  const auto reference = forward(m_reference, m_firstArguments, kThreadsPerRun);
  if (!reference) return reference.error();
  const auto candidate = forward(m_candidate, m_firstArguments, kThreadsPerRun);
  if (!candidate) return candidate.error();
  if (sameBits(reference.value(), m_firstReference) && sameBits(candidate.value(), m_firstCandidate)) return base::success();
  return Error{ErrorKind::run, "the same inputs give other scores than at the scan's start: the model keeps something between its forwards", "the scan",
               "keep no state in forward (a counter, running statistics of train mode)"};
}

}  // namespace ulpscope::engine
