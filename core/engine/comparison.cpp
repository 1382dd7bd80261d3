#include "core/engine/comparison.h"

#include "core/base/float_formats.h"
#include "core/engine/interception.h"
#include "core/engine/values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::engine {
namespace {

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

bool needsReplay(const OpEvent& event) {
  return std::any_of(event.outputs.begin(), event.outputs.end(),
                     [](const OpOutput& o) { return !o.isView && o.tensor.defined() && o.tensor.is_floating_point(); });
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
  s.viewOf = reference.outputs[static_cast<std::size_t>(output)].isView ? reference.outputs[static_cast<std::size_t>(output)].viewOf : "";
  s.maxAbs = s.relL2 = s.referenceMaxAbs = s.candidateMaxAbs = std::numeric_limits<double>::quiet_NaN();
  const std::size_t samples = m_samples.ids.size();
  site.maxAbs.assign(samples, kNaN);
  site.relL2.assign(samples, kNaN);
  site.flags.assign(samples, storage::kCellNotRun);
  return site;
}

void Comparison::meet(OpEvent& reference, OpEvent& candidate) {
  const OwnCalls own;
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
  for (const auto& d : allFinite ? samples : own) norms.push_back(std::sqrt(d.sumSquaredReference));
  return norms;
}

// ||op_policy(x) - op_fp32(x)|| / ||reference output||, elements finite in both; the site keeps its worst sample's.
void Comparison::recordIntroduced(Site& site, const IntroducedOutputs& introduced, std::size_t output,
                                  const std::vector<double>& norms, const analysis::SampleLayout& layout) const {
  if (output >= introduced.policy.size() || output >= introduced.fp32.size()) return;
  const at::Tensor& policy = introduced.policy[output];
  const at::Tensor& fp32 = introduced.fp32[output];
  if (!isReadable(policy) || !isReadable(fp32) || policy.sizes() != fp32.sizes() || !policy.is_floating_point()) return;
  const HeldView fp32View = viewOf(fp32);
  const HeldView policyView = viewOf(policy);
  const auto added = analysis::compareTensors(base::Reference(fp32View.view), base::Candidate(policyView.view), layout, {m_low, m_tolerance, false});
  for (std::size_t s = 0; s < added.size() && s < norms.size(); ++s) {
    if (added[s].finitePairs == 0) continue;
    const double numerator = std::sqrt(added[s].sumSquaredDifference);
    const double error = numerator == 0 ? 0 : norms[s] == 0 ? std::numeric_limits<double>::infinity() : numerator / norms[s];
    site.summary.introducedRelL2 = std::max(site.summary.introducedRelL2.value_or(0), error);
  }
}

void Comparison::compareOutput(OpEvent& reference, OpEvent& candidate, int output, const IntroducedOutputs& introduced) {
  const OpOutput& a = reference.outputs[static_cast<std::size_t>(output)];
  const OpOutput& b = candidate.outputs[static_cast<std::size_t>(output)];
  if (!isReadable(a.tensor) || !isReadable(b.tensor)) return;
  Site& site = siteFor(reference, candidate, output);
  if (!site.summary.viewOf.empty()) return;  // a site is a view, or it is none, by its first batch
  if (a.tensor.sizes() != b.tensor.sizes()) {
    noteDivergedControlFlow(reference, fmt::format("output is {} in the reference, {} in the candidate", shapeText(a.tensor.sizes()), shapeText(b.tensor.sizes())));
    return;
  }
  const Key key{reference.index, output};
  const HeldView refView = viewOf(a.tensor);
  const HeldView candView = viewOf(b.tensor);
  const analysis::SampleLayout layout = layoutFor(a.tensor, axisOf(reference, output));
  const auto samples = analysis::compareTensors(base::Reference(refView.view), base::Candidate(candView.view), layout,
                                                {m_low, m_tolerance, /*ulp=*/false});
  record(site, samples, layout);
  recordIntroduced(site, introduced, static_cast<std::size_t>(output), referenceNorms(refView.view, samples, layout), layout);
  m_producers[b.tensor.unsafeGetTensorImpl()] = key;
  judgeNonfinite(site, key, reference, candidate, samples, layout);
  judgeReference(site, key, reference, samples, layout);
}

void Comparison::record(Site& site, const std::vector<analysis::SampleDivergence>& samples, const analysis::SampleLayout& layout) {
  for (const auto& d : samples) site.total.merge(d);
  if (layout.kind != session::SampleAxis::Kind::wholeBatch) {
    for (std::int64_t i = 0; i < layout.samples; ++i) recordSample(site, m_batch.first + i, samples[static_cast<std::size_t>(i)], false);
    return;
  }
  const bool oneSample = m_batch.size == 1;
  for (std::int64_t i = 0; i < m_batch.size; ++i) recordSample(site, m_batch.first + i, samples.front(), !oneSample);
}

void Comparison::recordSample(Site& site, std::int64_t sample, const analysis::SampleDivergence& d, bool wholeBatch) {
  const auto at = static_cast<std::size_t>(sample);
  const bool floating = base::isFloating(site.summary.candidateDtype);
  site.flags[at] = flagsOf(d, wholeBatch);
  if (!floating) return;  // integers and bools: the number of differing elements, no distance
  site.maxAbs[at] = static_cast<float>(d.maxAbsOrNan());
  site.relL2[at] = static_cast<float>(d.relL2());
  const double relL2 = d.relL2();
  if (relL2 > site.worstRelL2) {  // false for NaN
    site.worstRelL2 = relL2;
    site.summary.worstSample = wholeBatch ? -1 : sample;
  }
}

void Comparison::alone(Side side, OpEvent& event) {
  noteDivergedControlFlow(event, side == Side::reference ? "ran in the reference only" : "ran in the candidate only");
}

void Comparison::noteDivergedControlFlow(const OpEvent& event, const std::string& what) {
  const auto same = [&](const session::ControlFlowFinding& f) { return f.modulePath == event.modulePath && f.op == event.op && f.what == what; };
  if (m_controlFlow.size() < kMaxControlFlow && std::none_of(m_controlFlow.begin(), m_controlFlow.end(), same))
    m_controlFlow.push_back({event.modulePath, event.op, what});
}

void Comparison::endBatch(const std::vector<at::Tensor>& candidateOutputs) {
  for (const at::Tensor& output : candidateOutputs) {
    const auto producer = m_producers.find(output.unsafeGetTensorImpl());
    if (producer == m_producers.end()) continue;
    for (Finding& f : m_origins)
      if (f.key == producer->second) f.record.stage = "output";
  }
  m_producers.clear();
}

void Comparison::moveInto(session::RunRecord& run, storage::RunMetrics& metrics) {
  std::map<Key, std::int64_t> numbers;
  const auto samples = static_cast<std::int64_t>(m_samples.ids.size());
  const double maxFinite = base::limits(m_low).maxFinite;
  for (auto& [key, site] : m_sites) {
    numbers[key] = static_cast<std::int64_t>(run.sites.size());
    session::SiteSummary& s = site.summary;
    const analysis::SampleDivergence& t = site.total;
    const bool floating = base::isFloating(s.candidateDtype);
    if (t.finitePairs > 0 && floating) {
      s.maxAbs = t.maxAbs;
      s.relL2 = site.worstRelL2 < 0 ? std::numeric_limits<double>::quiet_NaN() : site.worstRelL2;
    }
    if (t.elements > 0 && floating) {
      // A side without a finite element has no range.
      if (t.reference.total() < t.elements) s.referenceMaxAbs = t.referenceMaxAbs;
      if (t.candidate.total() < t.elements) s.candidateMaxAbs = t.candidateMaxAbs;
      if (t.referenceMaxAbs > 0) s.headroomBits = std::log2(maxFinite / t.referenceMaxAbs);
    }
    s.elementsOverTolerance = floating ? t.overTolerance : 0;
    s.differingElements = t.differing;
    s.candidateOnly = t.candidateOnly;
    s.reference = t.reference;
    if (t.candidateOnly.total() > 0 && s.role == session::NonfiniteRole::none) s.role = session::NonfiniteRole::consequence;
    run.consequenceSites += s.role == session::NonfiniteRole::consequence;
    run.sites.push_back(std::move(s));
    metrics.maxAbs.values.insert(metrics.maxAbs.values.end(), site.maxAbs.begin(), site.maxAbs.end());
    metrics.relL2.values.insert(metrics.relL2.values.end(), site.relL2.begin(), site.relL2.end());
    metrics.flags.insert(metrics.flags.end(), site.flags.begin(), site.flags.end());
  }
  metrics.maxAbs.sites = metrics.relL2.sites = static_cast<std::int64_t>(run.sites.size());
  metrics.maxAbs.samples = metrics.relL2.samples = samples;
  const auto collect = [&](std::vector<Finding>& findings, std::vector<session::NonfiniteFinding>& into) {
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.key < b.key; });
    for (Finding& f : findings) {
      f.record.site = numbers.at(f.key);
      if (f.record.wholeBatch) f.record.sampleIds.clear();  // a last batch of one sample would be named as if it were the only one
      into.push_back(std::move(f.record));
    }
  };
  collect(m_origins, run.nonfiniteOrigins);
  collect(m_reference, run.referenceNonfinite);
  run.controlFlow = std::move(m_controlFlow);
}

}  // namespace ulpscope::engine
