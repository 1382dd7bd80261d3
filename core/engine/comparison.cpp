#include "core/engine/comparison.h"

#include "core/analysis/site_metrics.h"
#include "core/engine/capture.h"
#include "core/engine/interception.h"
#include "core/engine/operand_trace.h"
#include "core/engine/values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::engine {
namespace {

using session::Metric;
using session::MetricValues;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kMaxControlFlow = 200;

std::uint8_t flagsOf(const analysis::SampleDivergence& d, bool wholeBatch) {
  std::uint8_t flags = 0;
  if (d.candidateOnly.nan) flags |= storage::kCellNan;
  if (d.candidateOnly.plusInf) flags |= storage::kCellPlusInf;
  if (d.candidateOnly.minusInf) flags |= storage::kCellMinusInf;
  if (d.reference.total()) flags |= storage::kCellReference;
  if (d.overTolerance) flags |= storage::kCellOverTolerance;
  if (wholeBatch) flags |= storage::kCellWholeBatch;
  return flags;
}

// Of a tensor that is not readable: what stands in the way.
std::string unreadable(const at::Tensor& t) {
  if (t.is_quantized()) return "quantised";
  if (t.layout() != at::kStrided) return "sparse";
  return t.has_storage() ? std::string("dtype ") + c10::toString(t.scalar_type()) : "no storage";
}

bool needsReplay(const OpEvent& event) {
  return std::any_of(event.outputs.begin(), event.outputs.end(),
                     [](const OpOutput& o) { return !o.isView && o.tensor.defined() && isInexact(o.tensor); });
}

}  // namespace

Comparison::Comparison(const session::SampleSet& samples, base::DType low, const AxisProbe& axes, const IntroducedError* introduced)
    : m_samples(samples), m_low(low), m_tolerance(session::siteTolerance(low)), m_axes(axes), m_introduced(introduced) {}

session::SampleAxis Comparison::axisOf(const OpEvent& event, int output) const {
  const SiteAxes* axes = m_axes.find(event.index);
  if (!axes || static_cast<std::size_t>(output) >= axes->outputs.size()) return {};
  return axes->outputs[static_cast<std::size_t>(output)].axis();
}

analysis::SampleLayout Comparison::layoutFor(const at::Tensor& tensor, const session::SampleAxis& axis) const {
  return analysis::layoutOf(tensor.sizes().vec(), axis, m_batch.size);
}

Comparison::Site& Comparison::siteFor(const OpEvent& reference, const OpEvent& candidate, int output) {
  const auto [found, isNew] = m_sites.try_emplace(Key{reference.index, output});
  Site& site = found->second;
  if (!isNew) return site;
  session::SiteSummary& s = site.summary;
  const at::Tensor& a = reference.outputs[static_cast<std::size_t>(output)].tensor;
  const at::Tensor& b = candidate.outputs[static_cast<std::size_t>(output)].tensor;
  s.modulePath = reference.modulePath;
  s.op = reference.op;
  s.overload = reference.overload;
  s.source = reference.source;
  s.occurrence = reference.occurrence;
  s.output = output;
  s.referenceDtype = dtypeOf(a.scalar_type());
  s.candidateDtype = dtypeOf(b.scalar_type());
  s.policyClass = candidate.policyClass;
  s.shape = a.sizes().vec();
  // A batch of one is the exact path: everything belongs to its sample.
  s.sampleAxis = axisOf(reference, output).text();
  // A view in both: `to` of a dtype that the reference has already is a cast in the candidate.
  const OpOutput& seen = reference.outputs[static_cast<std::size_t>(output)];
  s.viewOf = seen.isView && candidate.outputs[static_cast<std::size_t>(output)].isView ? seen.viewOf : "";
  site.flags.assign(m_samples.ids.size(), storage::kCellNotRun);
  return site;
}

void Comparison::meet(OpEvent& reference, OpEvent& candidate) {
  const OwnCalls own;
  if (m_trace) m_trace->meet(reference, candidate);
  if (reference.op != candidate.op || reference.outputs.size() != candidate.outputs.size()) {
    noteDivergedControlFlow(reference, "runs " + candidate.op + " in the candidate");
    return;
  }
  if (!reference.judged) return;
  IntroducedOutputs introduced;
  if (m_introduced && needsReplay(reference)) {
    const SeenByHook seen;
    introduced = m_introduced->replay(reference, candidate);
  }
  for (std::size_t i = 0; i < reference.outputs.size(); ++i) compareOutput(reference, candidate, static_cast<int>(i), introduced);
}

// ||reference output|| of each sample, over its own finite elements: the candidate's may be NaN.
std::vector<double> Comparison::referenceNorms(const analysis::TensorView& reference, const std::vector<analysis::SampleDivergence>& samples,
                                               const analysis::SampleLayout& layout) const {
  const bool allFinite = std::all_of(samples.begin(), samples.end(), [](const auto& d) { return d.candidate.total() == 0; });
  std::vector<analysis::SampleDivergence> own;
  if (!allFinite) own = analysis::compareTensors(base::Reference(reference), base::Candidate(reference), layout, {m_low, m_tolerance, false});
  std::vector<double> norms;
  for (const auto& d : allFinite ? samples : own) norms.push_back(static_cast<double>(std::sqrt(d.sumSquaredReference)));
  return norms;
}

// ||op_policy(x) - op_fp32(x)|| and ||b - op_policy(x)||, each over ||reference output||; where some elements are not finite in both, over
// the norm of op_fp32(x), or op_policy(x), at the others.
void Comparison::addIntroduced(std::vector<MetricValues>& values, const Outputs& outputs, const IntroducedOutputs& introduced, std::size_t output) const {
  if (output >= introduced.policy.size() || output >= introduced.fp32.size()) return;
  const at::Tensor& policy = introduced.policy[output];
  const at::Tensor& fp32 = introduced.fp32[output];
  if (!isReadable(policy) || !isReadable(fp32) || policy.sizes() != fp32.sizes() || !isInexact(policy)) return;
  if (policy.sizes() != outputs.candidate.tensor.sizes()) return;
  const std::vector<double> norms = referenceNorms(outputs.reference.view, outputs.samples, outputs.layout);
  const HeldView policyView = stridedViewOf(policy);
  const HeldView fp32View = stridedViewOf(fp32);
  const analysis::CompareOptions options{m_low, m_tolerance, false};
  const auto added = analysis::compareTensors(base::Reference(fp32View.view), base::Candidate(policyView.view), outputs.layout, options);
  const auto inherited = analysis::compareTensors(base::Reference(policyView.view), base::Candidate(outputs.candidate.view), outputs.layout, options);
  const auto set = [&](Metric metric, const std::vector<analysis::SampleDivergence>& pairs) {
    for (std::size_t s = 0; s < pairs.size() && s < norms.size(); ++s) {
      if (pairs[s].finitePairs == 0) continue;
      // What the difference leaves out, an overflow, must not stand in the norm either.
      const double norm = pairs[s].finitePairs == pairs[s].elements ? norms[s] : static_cast<double>(std::sqrt(pairs[s].sumSquaredReference));
      values[s][metric] = analysis::relativeTo(norm, static_cast<double>(std::sqrt(pairs[s].sumSquaredDifference)));
    }
  };
  set(Metric::introducedRelL2, added);
  set(Metric::inheritedRelL2, inherited);
}

void Comparison::compareOutput(OpEvent& reference, OpEvent& candidate, int output, const IntroducedOutputs& introduced) {
  const OpOutput& a = reference.outputs[static_cast<std::size_t>(output)];
  const OpOutput& b = candidate.outputs[static_cast<std::size_t>(output)];
  if (!isReadable(a.tensor) || !isReadable(b.tensor)) {
    if (a.tensor.defined()) m_notCompared.insert(fmt::format("{} ({})", reference.op, unreadable(a.tensor)));
    return;
  }
  Site& site = siteFor(reference, candidate, output);
  if (!site.summary.viewOf.empty()) return;  // a site is a view, or it is none, by its first batch
  if (a.tensor.sizes() != b.tensor.sizes()) {
    noteDivergedControlFlow(reference, fmt::format("output is {} in the reference, {} in the candidate", shapeText(a.tensor.sizes()), shapeText(b.tensor.sizes())));
    return;
  }
  const Key key{reference.index, output};
  Outputs outputs{stridedViewOf(a.tensor), stridedViewOf(b.tensor), layoutFor(a.tensor, axisOf(reference, output)), {}};
  const bool inexact = base::isInexact(site.summary.candidateDtype);
  outputs.samples = analysis::compareTensors(base::Reference(outputs.reference.view), base::Candidate(outputs.candidate.view), outputs.layout,
                                             {m_low, m_tolerance, /*ulp=*/inexact});
  // Integers and bools: the number of differing elements, no distance.
  std::vector<MetricValues> values(outputs.samples.size());
  for (std::size_t s = 0; inexact && s < values.size(); ++s) values[s] = analysis::metricValues(outputs.samples[s], m_low);
  if (inexact) addIntroduced(values, outputs, introduced, static_cast<std::size_t>(output));
  record(site, outputs.samples, values, outputs.layout);
  noteProducers(key, a.tensor, b.tensor);
  if (m_capture) m_capture->take(key, reference, axisOf(reference, output), outputs.reference, outputs.candidate);
  judgeNonfinite(site, key, reference, candidate, outputs.samples, outputs.layout);
  judgeReference(site, key, reference, outputs.samples, outputs.layout);
}

void Comparison::record(Site& site, const std::vector<analysis::SampleDivergence>& samples, const std::vector<MetricValues>& values,
                        const analysis::SampleLayout& layout) {
  session::SiteSummary& summary = site.summary;
  for (const auto& d : samples) {
    summary.elements += d.elements;
    summary.elementsOverTolerance += base::isInexact(summary.candidateDtype) ? d.overTolerance : 0;
    summary.differingElements += d.differing;
    summary.candidateOnly = analysis::sum(summary.candidateOnly, d.candidateOnly);
    summary.candidate = analysis::sum(summary.candidate, d.candidate);
    summary.reference = analysis::sum(summary.reference, d.reference);
  }
  if (layout.kind != session::SampleAxis::Kind::wholeBatch) {
    for (std::size_t i = 0; i < samples.size(); ++i) recordSample(site, m_batch.first + static_cast<std::int64_t>(i), samples[i], values[i], false);
    return;
  }
  const bool oneSample = m_batch.size == 1;
  for (std::int64_t i = 0; i < m_batch.size; ++i) recordSample(site, m_batch.first + i, samples.front(), values.front(), !oneSample);
}

void Comparison::recordSample(Site& site, std::int64_t sample, const analysis::SampleDivergence& d, const MetricValues& values, bool wholeBatch) {
  const auto at = static_cast<std::size_t>(sample);
  site.flags[at] = flagsOf(d, wholeBatch);
  const double worst = site.summary.values[Metric::relL2];
  if (values[Metric::relL2] > worst || (std::isnan(worst) && values.has(Metric::relL2))) site.summary.worstSample = wholeBatch ? -1 : sample;
  site.summary.values.takeWorse(values);
  for (const Metric metric : session::allMetrics()) {
    if (!values.has(metric)) continue;
    std::vector<float>& cells = site.cells[static_cast<std::size_t>(metric)];
    if (cells.empty()) cells.assign(m_samples.ids.size(), kNaN);
    cells[at] = static_cast<float>(values[metric]);
  }
}

void Comparison::alone(Side side, OpEvent& event) {
  if (m_trace) m_trace->alone(side, event);
  noteDivergedControlFlow(event, side == Side::reference ? "ran in the reference only" : "ran in the candidate only");
}

void Comparison::noteDivergedControlFlow(const OpEvent& event, const std::string& what) {
  const auto same = [&](const session::ControlFlowFinding& f) { return f.modulePath == event.modulePath && f.op == event.op && f.what == what; };
  if (m_controlFlow.size() < kMaxControlFlow && std::none_of(m_controlFlow.begin(), m_controlFlow.end(), same))
    m_controlFlow.push_back({event.modulePath, event.op, what});
}

void Comparison::endBatch(const std::vector<at::Tensor>& candidateOutputs) {
  for (const at::Tensor& output : candidateOutputs) {
    const auto producer = m_candidateProducers.find(output);
    if (!producer) continue;
    for (Finding& f : m_origins)
      if (f.key == producer->site) f.record.stage = "output";
  }
  const std::lock_guard<std::mutex> lock(m_returnsMutex);
  m_candidateProducers.clear();
  m_referenceProducers.clear();
}

void Comparison::beginBatch(Batch batch) {
  m_batch = batch;
  m_returns.beginForward();
  if (m_capture) m_capture->beginBatch(batch);
}

void Comparison::noteProducers(const Key& key, const at::Tensor& reference, const at::Tensor& candidate) {
  const std::lock_guard<std::mutex> lock(m_returnsMutex);
  m_referenceProducers.made(reference, key);
  m_candidateProducers.made(candidate, key);
}

void Comparison::moduleReturned(const std::string& modulePath, const c10::IValue& value) {
  const std::lock_guard<std::mutex> lock(m_returnsMutex);
  m_returns.returned(modulePath, value, m_referenceProducers);
}

std::map<SiteKey, std::int64_t> Comparison::siteNumbers() const {
  std::map<SiteKey, std::int64_t> numbers;
  for (const auto& [key, site] : m_sites) numbers.emplace(key, static_cast<std::int64_t>(numbers.size()));
  return numbers;
}

namespace {

void append(storage::MetricMatrix& matrix, const std::vector<float>& row, std::int64_t samples) {
  if (row.empty())
    matrix.values.insert(matrix.values.end(), static_cast<std::size_t>(samples), kNaN);
  else
    matrix.values.insert(matrix.values.end(), row.begin(), row.end());
}

}  // namespace

void Comparison::describeMetrics(storage::RunMetrics& metrics) const {
  const auto samples = static_cast<std::int64_t>(m_samples.ids.size());
  for (const Metric metric : session::allMetrics()) {
    const auto at = static_cast<std::size_t>(metric);
    const bool evaluated = std::any_of(m_sites.begin(), m_sites.end(), [&](const auto& site) { return !site.second.cells[at].empty(); });
    if (!evaluated && metric != Metric::relL2 && metric != Metric::maxAbs) continue;
    metrics[metric].sites = static_cast<std::int64_t>(m_sites.size());
    metrics[metric].samples = samples;
    metrics[metric].values.reserve(m_sites.size() * static_cast<std::size_t>(samples));
    for (const auto& [key, site] : m_sites) append(metrics[metric], site.cells[at], samples);
  }
  for (const auto& [key, site] : m_sites) metrics.flags.insert(metrics.flags.end(), site.flags.begin(), site.flags.end());
}

void Comparison::describe(session::RunRecord& run, storage::RunMetrics& metrics) const {
  const std::map<Key, std::int64_t> numbers = siteNumbers();
  for (const auto& [key, site] : m_sites) {
    session::SiteSummary s = site.summary;
    if (s.candidateOnly.total() > 0 && s.role == session::NonfiniteRole::none) s.role = session::NonfiniteRole::consequence;
    if (m_trace) s.operands = m_trace->describe(key.index, numbers);
    run.consequenceSites += s.role == session::NonfiniteRole::consequence;
    run.sites.push_back(std::move(s));
  }
  describeMetrics(metrics);
  const auto collect = [&](std::vector<Finding> findings, std::vector<session::NonfiniteFinding>& into) {
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.key < b.key; });
    for (Finding& f : findings) {
      f.record.site = numbers.at(f.key);
      if (f.record.wholeBatch) f.record.sampleIds.clear();  // a last batch of one sample would be named as if it were the only one
      into.push_back(std::move(f.record));
    }
  };
  collect(m_origins, run.nonfiniteOrigins);
  collect(m_reference, run.referenceNonfinite);
  run.controlFlow = m_controlFlow;
  if (!m_notCompared.empty()) run.warnings.push_back(fmt::format("not compared, since their elements cannot be read: {}", fmt::join(m_notCompared, ", ")));
  run.moduleOutputs = m_returns.describe(numbers);
  if (m_capture) run.capture = m_capture->summary(numbers);
}

}  // namespace ulpscope::engine
