// Which op made a non-finite value, in which samples, and from what: the part of Comparison that judges.
#include "core/analysis/diagnosis.h"
#include "core/base/float_formats.h"
#include "core/base/number_text.h"
#include "core/engine/comparison.h"
#include "core/engine/values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::engine {
namespace {

bool comparablePair(const at::Tensor& a, const at::Tensor& b) {
  return isReadable(a) && isReadable(b) && isInexact(a) && isInexact(b) && a.sizes() == b.sizes();
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

// Elements of one sample, as doubles; all of them where the layout does not tell samples apart.
analysis::RangeSummary rangeOfSample(const at::Tensor& tensor, const analysis::SampleLayout& layout, std::int64_t sample) {
  const HeldView held = stridedViewOf(tensor);
  if (layout.kind == session::SampleAxis::Kind::wholeBatch) return analysis::rangeOf(held.view);
  std::vector<double> values;
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < layout.outer; ++outer)
    for (std::int64_t axis = 0; axis < layout.axis; ++axis) {
      if (layout.sampleOf(axis) != sample) {
        i += layout.inner;
        continue;
      }
      for (std::int64_t inner = 0; inner < layout.inner; ++inner, ++i) values.push_back(analysis::elementAt(held.view, i));
    }
  analysis::TensorView view;
  view.data = values.data();
  view.dtype = base::DType::float64;
  view.shape = {static_cast<std::int64_t>(values.size())};
  return analysis::rangeOf(view);
}

// What the op makes of an operand: a listed op casts it down; elsewhere a 0-dim tensor on the device is rounded to the result's dtype.
base::DType castOf(const OpEvent& candidate, const Operand& operand) {
  if (candidate.castsDown && isEligible(operand.tensor)) return dtypeOf(candidate.castTo);
  const bool zeroDim = operand.tensor.dim() == 0 && !operand.onHost && !operand.tensor.unsafeGetTensorImpl()->is_wrapped_number();
  const bool lowResult = !candidate.outputs.empty() && isLow(candidate.outputs.front().tensor.scalar_type());
  return dtypeOf(zeroDim && lowResult ? candidate.outputs.front().tensor.scalar_type() : operand.tensor.scalar_type());
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

// Ops that write a given value: an infinity from them is a mask's constant, not a result.
bool writesConstants(const std::string& op) {
  for (const char* name : {"masked_fill", "where", "full", "full_like", "fill", "new_full", "index_fill", "constant_pad_nd"})
    if (op == std::string("aten::") + name || op == std::string("aten::") + name + "_") return true;
  return false;
}

// Marks the samples of which an operand is non-finite, as `counts` counts it; all of them where they cannot be told apart.
void taint(std::vector<bool>& tainted, const std::vector<analysis::SampleDivergence>& samples,
           session::NonfiniteCounts analysis::SampleDivergence::*counts, const analysis::SampleLayout& layout) {
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if ((samples[s].*counts).total() == 0) continue;
    if (layout.kind == session::SampleAxis::Kind::wholeBatch)
      tainted.assign(tainted.size(), true);
    else
      tainted[s] = true;
  }
}

}  // namespace

analysis::SampleLayout Comparison::operandLayout(const OpEvent& event, std::size_t operand) const {
  const SiteAxes* axes = m_axes.find(event.index);
  return layoutFor(event.operands[operand].tensor, axes && operand < axes->operands.size() ? axes->operands[operand].axis() : session::SampleAxis{});
}

std::vector<analysis::OperandFacts> Comparison::operandFacts(const OpEvent& reference, const OpEvent& candidate, std::int64_t sample) const {
  std::vector<analysis::OperandFacts> facts;
  for (std::size_t i = 0; i < candidate.operands.size(); ++i) {
    const Operand& from = candidate.operands[i];
    if (!isReadable(from.tensor) || !isInexact(from.tensor)) continue;
    analysis::OperandFacts operand;
    operand.name = from.name;
    operand.dtype = dtypeOf(from.tensor.scalar_type());
    operand.castTo = castOf(candidate, from);
    const analysis::SampleLayout layout = operandLayout(candidate, i);
    operand.candidate = rangeOfSample(from.tensor, layout, sample);
    if (i < reference.operands.size() && comparablePair(reference.operands[i].tensor, from.tensor))
      operand.referenceZeros = rangeOfSample(reference.operands[i].tensor, layout, sample).zeros;
    facts.push_back(std::move(operand));
  }
  return facts;
}

std::vector<bool> Comparison::taintedSamples(const OpEvent& reference, const OpEvent& candidate) const {
  std::vector<bool> tainted(static_cast<std::size_t>(m_batch.size), false);
  for (std::size_t i = 0; i < reference.operands.size() && i < candidate.operands.size(); ++i) {
    const at::Tensor& a = reference.operands[i].tensor;
    const at::Tensor& b = candidate.operands[i].tensor;
    if (!comparablePair(a, b) || a.is_same(b)) continue;
    const analysis::SampleLayout layout = operandLayout(reference, i);
    const HeldView refView = stridedViewOf(a);
    const HeldView candView = stridedViewOf(b);
    const auto samples = analysis::compareTensors(base::Reference(refView.view), base::Candidate(candView.view), layout, {m_low, m_tolerance, false});
    taint(tainted, samples, &analysis::SampleDivergence::candidateOnly, layout);
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
    counts = analysis::sum(counts, samples[s].candidateOnly);
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
  const HeldView refView = stridedViewOf(reference.outputs[output].tensor);
  const HeldView candView = stridedViewOf(candidate.outputs[output].tensor);
  const bool oneSample = m_batch.size == 1;
  for (const std::int64_t s : origin)
    if (!whole || oneSample) finding.sampleIds.push_back(m_samples.ids[static_cast<std::size_t>(m_batch.first + s)]);
  finding.wholeBatch = finding.wholeBatch || (whole && !oneSample);
  finding.counts = analysis::sum(finding.counts, counts);
  analysis::OriginFacts facts;
  facts.op = finding.op;
  facts.modulePath = finding.modulePath;
  facts.low = dtypeOf(candidate.low);
  // Samples of one op can have different causes: each is judged on its own elements.
  for (const std::int64_t s : origin) {
    facts.counts = samples[static_cast<std::size_t>(s)].candidateOnly;
    facts.referenceThere = analysis::referenceAtCandidateNonfinite(base::Reference(refView.view), base::Candidate(candView.view), layout, {s});
    facts.operands = operandFacts(reference, candidate, s);
    const std::string cause = analysis::causeOf(facts);
    widen(finding.reference, facts.referenceThere.range);
    mergeOperands(finding, facts.operands);
    CauseCount& count = site.causes[cause];
    if (++count.samples == 1 || facts.referenceThere.range.maxAbs > count.worst.referenceThere.range.maxAbs) count.worst = facts;
  }
  stateCause(site, finding);
}

void Comparison::stateCause(const Site& site, session::NonfiniteFinding& finding) {
  const auto most = std::max_element(site.causes.begin(), site.causes.end(), [](const auto& a, const auto& b) { return a.second.samples < b.second.samples; });
  finding.cause = most->first;
  if (site.causes.size() > 1) {
    finding.cause.clear();
    for (const auto& [cause, count] : site.causes)
      finding.cause += fmt::format("{}{} ({})", finding.cause.empty() ? "" : ", ", cause, base::counted(count.samples, "sample"));
  }
  analysis::OriginFacts facts = most->second.worst;
  facts.counts = finding.counts;
  facts.sampleIds = finding.sampleIds;
  facts.wholeBatch = finding.wholeBatch;
  finding.diagnosis = analysis::diagnosisOf(facts, most->first);
}

// Samples (of the batch) in which an operand of the reference is non-finite, and in which one is NaN.
Comparison::NonfiniteBefore Comparison::samplesNonfiniteBefore(const OpEvent& reference) const {
  const auto size = static_cast<std::size_t>(m_batch.size);
  NonfiniteBefore before{std::vector<bool>(size, false), std::vector<bool>(size, false)};
  for (std::size_t i = 0; i < reference.operands.size(); ++i) {
    const at::Tensor& operand = reference.operands[i].tensor;
    if (!isReadable(operand) || !isInexact(operand)) continue;
    const analysis::SampleLayout layout = operandLayout(reference, i);
    const HeldView view = stridedViewOf(operand);
    auto samples = analysis::compareTensors(base::Reference(view.view), base::Candidate(view.view), layout, {m_low, m_tolerance, false});
    taint(before.any, samples, &analysis::SampleDivergence::reference, layout);
    for (auto& d : samples) d.reference.plusInf = d.reference.minusInf = 0;
    taint(before.nan, samples, &analysis::SampleDivergence::reference, layout);
  }
  return before;
}

void Comparison::judgeReference(Site& site, const Key& key, const OpEvent& reference, const std::vector<analysis::SampleDivergence>& samples,
                                const analysis::SampleLayout& layout) {
  if (std::all_of(samples.begin(), samples.end(), [](const auto& d) { return d.reference.total() == 0; })) return;
  const NonfiniteBefore before = samplesNonfiniteBefore(reference);
  const bool oneForAll = layout.kind == session::SampleAxis::Kind::wholeBatch;
  const auto tainted = [&](const std::vector<bool>& marks, std::size_t s) { return oneForAll ? std::find(marks.begin(), marks.end(), true) != marks.end() : marks[s]; };
  // A NaN made of an infinity that was meant (a mask's) is not meant.
  const auto isOrigin = [&](std::size_t s) {
    if (samples[s].reference.total() == 0) return false;
    return !tainted(before.any, s) || (samples[s].reference.nan > 0 && !tainted(before.nan, s));
  };
  session::NonfiniteCounts counts;
  for (std::size_t s = 0; s < samples.size(); ++s)
    if (isOrigin(s)) counts = analysis::sum(counts, samples[s].reference);
  if (counts.total() == 0) return;
  if (site.referenceFinding < 0) {
    site.referenceFinding = static_cast<std::ptrdiff_t>(m_reference.size());
    m_reference.push_back({{}, key});
    findingOf(m_reference.back().record, site.summary).cause = writesConstants(site.summary.op) ? kMaskConstant : "non-finite in FP32 already";
  }
  session::NonfiniteFinding& finding = m_reference[static_cast<std::size_t>(site.referenceFinding)].record;
  finding.counts = analysis::sum(finding.counts, counts);
  const bool whole = layout.kind == session::SampleAxis::Kind::wholeBatch && m_batch.size > 1;
  finding.wholeBatch = finding.wholeBatch || whole;
  for (std::size_t s = 0; !whole && s < samples.size(); ++s)
    if (isOrigin(s)) finding.sampleIds.push_back(m_samples.ids[static_cast<std::size_t>(m_batch.first) + s]);
  finding.diagnosis = (finding.modulePath.empty() ? std::string("the root module") : finding.modulePath) + ": " + finding.op +
                      " is non-finite in FP32 already, in " + analysis::samplesText(finding.sampleIds, finding.wholeBatch);
}

}  // namespace ulpscope::engine
