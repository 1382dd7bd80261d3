#include "core/engine/output_collector.h"

#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;
using session::SampleAxis;

// Eager outputs come from other kernels and another batch size: FP32's own last bits differ. A wrong model differs by orders more.
constexpr double kEagerTolerance = 1e-4;

// A folded axis split in two.
at::Tensor split(const at::Tensor& tensor, const SampleAxis& axis, std::int64_t samples) {
  if (axis.kind == SampleAxis::Kind::plain) return tensor;
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  const auto at = sizes.begin() + axis.axis;
  const std::int64_t others = *at / samples;
  const bool major = axis.kind == SampleAxis::Kind::sampleMajor;
  *at = major ? samples : others;
  sizes.insert(at + 1, major ? others : samples);
  return tensor.reshape(sizes);
}

std::int64_t sampleDimension(const SampleAxis& axis) { return axis.axis + (axis.kind == SampleAxis::Kind::sampleMinor ? 1 : 0); }

at::Tensor folded(const at::Tensor& tensor, const SampleAxis& axis) {
  return axis.kind == SampleAxis::Kind::plain ? tensor : tensor.flatten(axis.axis, axis.axis + 1);
}

storage::StoredElements elementsOf(const at::Tensor& tensor) {
  const HeldView held = viewOf(tensor);
  storage::StoredElements elements{held.view.dtype, {}};
  elements.bytes.resize(static_cast<std::size_t>(held.view.elementCount()) * base::sizeBytes(held.view.dtype));
  if (!elements.bytes.empty()) std::memcpy(elements.bytes.data(), held.view.data, elements.bytes.size());
  return elements;
}

// max |a-b| / max |a| over elements finite in both; +inf when one is finite and the other not, or of another kind.
double relativeDifference(const at::Tensor& expected, const at::Tensor& actual) {
  const HeldView a = viewOf(expected);
  const HeldView b = viewOf(actual);
  double difference = 0, scale = 0;
  for (std::int64_t i = 0, n = a.view.elementCount(); i < n; ++i) {
    const double x = analysis::elementAt(a.view, i);
    const double y = analysis::elementAt(b.view, i);
    if (std::isfinite(x) && std::isfinite(y)) {
      difference = std::max(difference, std::fabs(x - y));
      scale = std::max(scale, std::fabs(x));
    } else if (!(x == y || (std::isnan(x) && std::isnan(y)))) {
      return INFINITY;
    }
  }
  return difference == 0 ? 0 : scale == 0 ? INFINITY : difference / scale;
}

}  // namespace

at::Tensor OutputCollector::Output::whole(const std::vector<at::Tensor>& parts) const {
  return !tellsSamples() && parts.size() == 1 ? parts.front() : joinSamples(parts, axis, batchSizes);
}

at::Tensor joinSamples(const std::vector<at::Tensor>& parts, const SampleAxis& axis, const std::vector<std::int64_t>& sizes) {
  if (axis.kind == SampleAxis::Kind::wholeBatch || parts.empty()) return {};
  if (parts.size() == 1) return parts.front();
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < parts.size(); ++i) all.push_back(split(parts[i], axis, sizes[i]));
  return folded(at::cat(all, sampleDimension(axis)), axis);
}

at::Tensor reverseSamples(const at::Tensor& tensor, const SampleAxis& axis, std::int64_t samples) {
  return folded(split(tensor, axis, samples).flip({sampleDimension(axis)}), axis);
}

SampleAxis OutputCollector::axisOf(std::size_t output, const at::Tensor& tensor, Batch batch) const {
  const auto& evidence = m_axes.modelOutputs();
  if (output < evidence.size()) return evidence[output].axis();
  // No probe was possible: a batch of one sample, whose axis is the leading one of size 1.
  const bool leading = evidence.empty() && batch.size == 1 && tensor.dim() > 0 && tensor.size(0) == 1;
  return leading ? SampleAxis{SampleAxis::Kind::plain, 0} : SampleAxis{};
}

void OutputCollector::add(Batch batch, const std::vector<NamedTensor>& reference, const std::vector<NamedTensor>& candidate) {
  if (m_outputs.empty())
    for (std::size_t i = 0; i < reference.size(); ++i) {
      Output output;
      output.name = reference[i].name;
      output.axis = axisOf(i, reference[i].tensor, batch);
      m_outputs.push_back(std::move(output));
    }
  const auto find = [](const std::vector<NamedTensor>& all, const std::string& name) -> const at::Tensor* {
    const auto found = std::find_if(all.begin(), all.end(), [&](const NamedTensor& t) { return t.name == name; });
    return found == all.end() ? nullptr : &found->tensor;
  };
  for (Output& output : m_outputs) {
    if (!output.comparable) continue;
    const at::Tensor* a = find(reference, output.name);
    if (a) addOne(output, batch, *a, find(candidate, output.name));
  }
  for (const NamedTensor& extra : candidate)
    if (!find(reference, extra.name)) m_differences.push_back({"", "output '" + extra.name + "'", "is given by the candidate only"});
}

void OutputCollector::addOne(Output& output, Batch batch, const at::Tensor& a, const at::Tensor* b) {
  if (!b || a.sizes() != b->sizes()) {
    const std::string what = b ? fmt::format("is {} in the reference, {} in the candidate", shapeText(a.sizes()), shapeText(b->sizes())) : std::string("is given by the reference only");
    m_differences.push_back({"", "output '" + output.name + "'", what});
    Output refused;
    refused.name = std::move(output.name);
    refused.comparable = false;
    refused.candidateDtype = output.candidateDtype;
    output = std::move(refused);
    return;
  }
  output.reference.push_back(a.detach().clone());
  output.candidate.push_back(b->detach().clone());
  output.batchSizes.push_back(batch.size);
  if (isKnown(b->scalar_type())) output.candidateDtype = dtypeOf(b->scalar_type());
  if (!isReadable(a) || !isReadable(*b)) return;
  output.candidateDtype = dtypeOf(b->scalar_type());
  for (const auto& d : divergenceOfSamples(a, *b, output.axis, batch.size, m_low)) {
    output.total.merge(d);
    if (output.tellsSamples()) output.nonfinite.push_back(d.candidateOnly.total() > 0);
  }
}

SampleAxis OutputCollector::sampleAxisOf(const std::string& name) const {
  for (const Output& output : m_outputs)
    if (output.name == name) return output.axis;
  return {};
}

std::vector<std::int64_t> OutputCollector::nonfiniteSamples() const {
  std::set<std::int64_t> samples;
  for (const Output& output : m_outputs)
    for (std::size_t s = 0; s < output.nonfinite.size(); ++s)
      if (output.nonfinite[s]) samples.insert(static_cast<std::int64_t>(s));
  return {samples.begin(), samples.end()};
}

std::vector<analysis::SampleDivergence> divergenceOfSamples(const at::Tensor& reference, const at::Tensor& candidate, const SampleAxis& axis,
                                                            std::int64_t samples, base::DType low) {
  const HeldView a = stridedViewOf(reference);
  const HeldView b = stridedViewOf(candidate);
  return analysis::compareTensors(base::Reference(a.view), base::Candidate(b.view), analysis::layoutOf(a.view.shape, axis, samples),
                                  {low, session::siteTolerance(low), /*ulp=*/true});
}

std::vector<session::OutputSummary> OutputCollector::summaries() const {
  std::vector<session::OutputSummary> all;
  for (const Output& output : m_outputs) {
    session::OutputSummary s;
    s.name = output.name;
    const at::Tensor joinedTensor = output.joinedReference();
    if (joinedTensor.defined())
      s.shape = joinedTensor.sizes().vec();
    else if (!output.reference.empty())
      s.shape = output.reference.front().sizes().vec();
    s.dtype = output.candidateDtype;
    s.sampleAxis = output.axis.text();
    if (base::isInexact(s.dtype) && output.total.finitePairs > 0) {
      s.maxAbs = output.total.maxAbsOrNan();
      s.maxRel = output.total.maxRel;
      s.relL2 = output.total.relL2();
      s.cosineDistance = output.total.cosineDistance();
      s.maxUlp = static_cast<double>(output.total.maxUlp);
    }
    s.elements = output.total.elements;
    s.differingElements = output.total.differing;
    s.nonfinite = output.total.candidateOnly;
    all.push_back(std::move(s));
  }
  return all;
}

std::vector<storage::OutputTensors> OutputCollector::tensors() const {
  std::vector<storage::OutputTensors> all;
  for (const Output& output : m_outputs) {
    const at::Tensor a = output.whole(output.reference), b = output.whole(output.candidate);
    if (isReadable(a) && isReadable(b)) all.push_back({output.name, a.sizes().vec(), elementsOf(a), elementsOf(b)});
  }
  return all;
}

std::vector<std::string> OutputCollector::notStored() const {
  std::vector<std::string> names;
  for (const Output& output : m_outputs)
    if (output.comparable && !(isReadable(output.whole(output.reference)) && isReadable(output.whole(output.candidate)))) names.push_back(output.name);
  return names;
}

at::Tensor OutputCollector::Output::rowsOf(const at::Tensor& eager, const std::vector<std::int64_t>& chosen) const {
  if (chosen.empty()) return eager;
  const bool told = axis.kind == SampleAxis::Kind::plain && axis.axis < eager.dim() && eager.size(axis.axis) > chosen.back();
  return told ? eager.index_select(axis.axis, at::tensor(chosen, at::kLong)) : at::Tensor();
}

base::Result<std::string> OutputCollector::checkEager(const std::vector<NamedTensor>& saved, const std::vector<std::int64_t>& chosen) const {
  if (saved.empty()) return std::string();
  std::vector<NamedTensor> expected;
  for (const NamedTensor& e : saved) {
    const auto output = std::find_if(m_outputs.begin(), m_outputs.end(), [&](const Output& candidate) { return candidate.name == e.name; });
    const at::Tensor rows = output == m_outputs.end() ? e.tensor : output->rowsOf(e.tensor, chosen);
    if (rows.defined()) expected.push_back({e.name, rows});
  }
  if (expected.empty()) return std::string("not checked against the saved eager outputs: no axis of theirs counts the chosen samples");
  std::vector<std::string> names;
  for (const Output& output : m_outputs) names.push_back(output.name);
  double worst = 0;
  for (const NamedTensor& e : expected) {
    const auto output = std::find_if(m_outputs.begin(), m_outputs.end(), [&](const Output& o) { return o.name == e.name; });
    if (output == m_outputs.end())
      return Error{ErrorKind::run, "is saved with the inputs, but the model gives no such output", "eager output '" + e.name + "'",
                   "the model has " + base::quotedChoice(names) + "; export model and inputs together"};
    const at::Tensor actual = output->whole(output->reference);
    if (!actual.defined()) continue;
    if (actual.sizes() != e.tensor.sizes())
      return Error{ErrorKind::run, fmt::format("shape {} was saved, {} computed", shapeText(e.tensor.sizes()), shapeText(actual.sizes())),
                   "eager output '" + e.name + "'", "export model and inputs together"};
    const double difference = relativeDifference(e.tensor, actual);
    if (!(difference <= kEagerTolerance))
      return Error{ErrorKind::run, fmt::format("this is not the model that was exported: FP32 differs from the saved eager output by {} of its largest value", base::shortNumber(difference)),
                   "output '" + e.name + "'", "export model and inputs together, in eval mode"};
    worst = std::max(worst, difference);
  }
  return "this is your model: FP32 outputs agree with the saved eager outputs " + (worst == 0 ? "exactly" : "to " + base::shortNumber(worst));
}

}  // namespace ulpscope::engine
