// Which op made a non-finite value, in which samples, and from what: the part of Comparison that judges.
#include "core/analysis/diagnosis.h"
#include "core/base/float_formats.h"
#include "core/engine/comparison.h"
#include "core/engine/values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::engine {
namespace {

bool comparablePair(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.is_floating_point() && b.is_floating_point() && isKnown(a.scalar_type()) &&
         isKnown(b.scalar_type()) && a.sizes() == b.sizes();
}

double minOf(double a, double b) { return std::isnan(a) || b < a ? b : a; }
double maxOf(double a, double b) { return std::isnan(a) || b > a ? b : a; }

void widen(session::ValueRange& range, const session::ValueRange& more) {
  range.min = minOf(range.min, more.min);
  range.max = maxOf(range.max, more.max);
  range.maxAbs = maxOf(range.maxAbs, more.maxAbs);
}

session::NonfiniteFinding& findingOf(session::NonfiniteFinding& finding, const session::SiteSummary& site) {
  finding.stage = "intermediate";
  finding.op = site.op;
  finding.overload = site.overload;
  finding.modulePath = site.modulePath;
  finding.source = site.source;
  finding.occurrence = site.occurrence;
  finding.reference = {std::nan(""), std::nan(""), std::nan("")};
  return finding;
}

session::NonfiniteCounts plus(const session::NonfiniteCounts& a, const session::NonfiniteCounts& b) {
  return {a.nan + b.nan, a.plusInf + b.plusInf, a.minusInf + b.minusInf};
}

std::vector<analysis::OperandFacts> operandFacts(const OpEvent& reference, const OpEvent& candidate, at::ScalarType castTo, bool casts) {
  std::vector<analysis::OperandFacts> facts;
  for (std::size_t i = 0; i < candidate.operands.size(); ++i) {
    const at::Tensor& t = candidate.operands[i].tensor;
    if (!t.defined() || !t.is_floating_point() || !isKnown(t.scalar_type())) continue;
    analysis::OperandFacts operand;
    operand.name = candidate.operands[i].name;
    operand.dtype = dtypeOf(t.scalar_type());
    operand.castTo = casts && isEligible(t) ? dtypeOf(castTo) : operand.dtype;
    operand.candidate = analysis::rangeOf(viewOf(t).view);
    if (i < reference.operands.size() && comparablePair(reference.operands[i].tensor, t))
      operand.referenceZeros = analysis::rangeOf(viewOf(reference.operands[i].tensor).view).zeros;
    facts.push_back(std::move(operand));
  }
  return facts;
}

void mergeOperands(session::NonfiniteFinding& finding, const std::vector<analysis::OperandFacts>& operands) {
  for (const auto& o : operands) {
    const auto known = std::find_if(finding.operands.begin(), finding.operands.end(), [&](const auto& k) { return k.name == o.name; });
    if (known == finding.operands.end())
      finding.operands.push_back({o.name, o.dtype, o.candidate.range});
    else
      widen(known->range, o.candidate.range);
  }
}

}  // namespace

std::vector<bool> Comparison::taintedSamples(const OpEvent& reference, const OpEvent& candidate) const {
  std::vector<bool> tainted(static_cast<std::size_t>(m_batch.size), false);
  const SiteAxes* axes = m_axes.find(reference.index);
  for (std::size_t i = 0; i < reference.operands.size() && i < candidate.operands.size(); ++i) {
    const at::Tensor& a = reference.operands[i].tensor;
    const at::Tensor& b = candidate.operands[i].tensor;
    if (!comparablePair(a, b) || a.is_same(b)) continue;
    const auto axis = axes && i < axes->operands.size() ? axes->operands[i].axis() : session::SampleAxis{};
    const analysis::SampleLayout layout = layoutFor(a, axis);
    const HeldView refView = viewOf(a);
    const HeldView candView = viewOf(b);
    const auto samples = analysis::compareTensors(base::Reference(refView.view), base::Candidate(candView.view), layout, {m_low, m_tolerance, false});
    for (std::size_t s = 0; s < samples.size(); ++s) {
      if (samples[s].candidateOnly.total() == 0) continue;
      if (layout.kind == session::SampleAxis::Kind::wholeBatch)
        tainted.assign(tainted.size(), true);
      else
        tainted[s] = true;
    }
  }
  return tainted;
}

void Comparison::judgeNonfinite(Site& site, const Key& key, const OpEvent& reference, const OpEvent& candidate,
                                const std::vector<analysis::SampleDivergence>& samples, const analysis::SampleLayout& layout) {
  session::NonfiniteCounts counts;
  std::vector<std::int64_t> origin;
  const std::vector<bool> tainted = std::any_of(samples.begin(), samples.end(), [](const auto& d) { return d.candidateOnly.total() > 0; })
                                        ? taintedSamples(reference, candidate)
                                        : std::vector<bool>();
  const bool whole = layout.kind == session::SampleAxis::Kind::wholeBatch;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if (samples[s].candidateOnly.total() == 0) continue;
    const bool consequence = whole ? std::find(tainted.begin(), tainted.end(), true) != tainted.end() : tainted[s];
    if (consequence) continue;
    origin.push_back(static_cast<std::int64_t>(s));
    counts = plus(counts, samples[s].candidateOnly);
  }
  if (origin.empty()) return;
  site.summary.role = session::NonfiniteRole::origin;
  if (site.finding < 0) {
    site.finding = static_cast<std::ptrdiff_t>(m_origins.size());
    m_origins.push_back({{}, key});
    findingOf(m_origins.back().record, site.summary);
  }
  session::NonfiniteFinding& finding = m_origins[static_cast<std::size_t>(site.finding)].record;
  const auto output = static_cast<std::size_t>(key.output);
  const HeldView refView = viewOf(reference.outputs[output].tensor);
  const HeldView candView = viewOf(candidate.outputs[output].tensor);
  const bool oneSample = m_batch.size == 1;
  for (const std::int64_t s : origin)
    if (!whole || oneSample) finding.sampleIds.push_back(m_samples.ids[static_cast<std::size_t>(m_batch.first + s)]);
  finding.wholeBatch = finding.wholeBatch || (whole && !oneSample);
  finding.counts = plus(finding.counts, counts);
  analysis::OriginFacts facts;
  facts.op = finding.op;
  facts.modulePath = finding.modulePath;
  facts.low = m_low;
  facts.counts = finding.counts;
  facts.referenceThere = analysis::referenceAtCandidateNonfinite(base::Reference(refView.view), base::Candidate(candView.view), layout, origin);
  widen(finding.reference, facts.referenceThere.range);
  facts.referenceThere.range = finding.reference;
  facts.operands = operandFacts(reference, candidate, candidate.castTo, candidate.castsDown);
  facts.sampleIds = finding.sampleIds;
  facts.wholeBatch = finding.wholeBatch;
  mergeOperands(finding, facts.operands);
  if (finding.cause.empty()) finding.cause = analysis::causeOf(facts);
  finding.diagnosis = analysis::diagnosisOf(facts, finding.cause);
}

void Comparison::judgeReference(Site& site, const Key& key, const OpEvent& reference, const std::vector<analysis::SampleDivergence>& samples,
                                const analysis::SampleLayout& layout) {
  session::NonfiniteCounts counts;
  for (const auto& d : samples) counts = plus(counts, d.reference);
  if (counts.total() == 0) return;
  for (const Operand& operand : reference.operands)
    if (operand.tensor.defined() && operand.tensor.is_floating_point() && isKnown(operand.tensor.scalar_type()) &&
        analysis::rangeOf(viewOf(operand.tensor).view).nonfinite.total() > 0)
      return;
  if (site.referenceFinding < 0) {
    site.referenceFinding = static_cast<std::ptrdiff_t>(m_reference.size());
    m_reference.push_back({{}, key});
    findingOf(m_reference.back().record, site.summary).cause = "non-finite in FP32 already";
  }
  session::NonfiniteFinding& finding = m_reference[static_cast<std::size_t>(site.referenceFinding)].record;
  finding.counts = plus(finding.counts, counts);
  const bool whole = layout.kind == session::SampleAxis::Kind::wholeBatch && m_batch.size > 1;
  finding.wholeBatch = finding.wholeBatch || whole;
  for (std::size_t s = 0; !whole && s < samples.size(); ++s)
    if (samples[s].reference.total() > 0) finding.sampleIds.push_back(m_samples.ids[static_cast<std::size_t>(m_batch.first) + s]);
  finding.diagnosis = (finding.modulePath.empty() ? std::string("the root module") : finding.modulePath) + ": " + finding.op +
                      " is non-finite in FP32 already, in " + analysis::samplesText(finding.sampleIds, finding.wholeBatch);
}

}  // namespace ulpscope::engine
