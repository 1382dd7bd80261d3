#include "core/engine/output_collector.h"

#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;

// Eager outputs come from other kernels and another batch size: FP32's own last bits differ. A wrong model differs by orders more.
constexpr double kEagerTolerance = 1e-4;

at::Tensor joined(const std::vector<at::Tensor>& parts, int axis) {
  if (axis < 0 || parts.empty()) return {};
  return parts.size() == 1 ? parts.front() : at::cat(parts, axis);
}

std::vector<float> floatsOf(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kFloat).contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
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

at::Tensor OutputCollector::Output::joinedReference() const { return joined(reference, sampleAxis); }
at::Tensor OutputCollector::Output::joinedCandidate() const { return joined(candidate, sampleAxis); }

int OutputCollector::axisOf(std::size_t output, const at::Tensor& tensor, Batch batch) const {
  const auto& evidence = m_axes.modelOutputs();
  if (output < evidence.size()) {
    const session::SampleAxis axis = evidence[output].axis();
    return axis.kind == session::SampleAxis::Kind::plain ? axis.axis : -1;
  }
  // No probe was possible: a batch of one sample, whose axis is the leading one of size 1.
  return evidence.empty() && batch.size == 1 && tensor.dim() > 0 && tensor.size(0) == 1 ? 0 : -1;
}

void OutputCollector::add(Batch batch, const std::vector<NamedTensor>& reference, const std::vector<NamedTensor>& candidate) {
  if (m_outputs.empty())
    for (std::size_t i = 0; i < reference.size(); ++i) {
      Output output;
      output.name = reference[i].name;
      output.sampleAxis = axisOf(i, reference[i].tensor, batch);
      m_outputs.push_back(std::move(output));
    }
  const auto find = [](const std::vector<NamedTensor>& all, const std::string& name) -> const at::Tensor* {
    const auto found = std::find_if(all.begin(), all.end(), [&](const NamedTensor& t) { return t.name == name; });
    return found == all.end() ? nullptr : &found->tensor;
  };
  for (Output& output : m_outputs) {
    if (!output.comparable) continue;
    const at::Tensor* a = find(reference, output.name);
    if (a) addOne(output, *a, find(candidate, output.name));
  }
  for (const NamedTensor& extra : candidate)
    if (!find(reference, extra.name)) m_differences.push_back({"", "output '" + extra.name + "'", "is given by the candidate only"});
}

void OutputCollector::addOne(Output& output, const at::Tensor& a, const at::Tensor* b) {
  if (!b || a.sizes() != b->sizes()) {
    const std::string what = b ? fmt::format("is {} in the reference, {} in the candidate", shapeText(a.sizes()), shapeText(b->sizes())) : std::string("is given by the reference only");
    m_differences.push_back({"", "output '" + output.name + "'", what});
    const Output compared = std::move(output);
    output = {compared.name, -1, false, {}, {}, {}, {}, compared.candidateDtype};
    return;
  }
  output.reference.push_back(a.detach().clone());
  output.candidate.push_back(b->detach().clone());
  if (isKnown(b->scalar_type())) output.candidateDtype = dtypeOf(b->scalar_type());
  if (!isReadable(a) || !isReadable(*b)) return;
  output.candidateDtype = dtypeOf(b->scalar_type());
  for (const auto& d : divergenceOfSamples(a, *b, output.sampleAxis, m_low)) {
    output.total.merge(d);
    if (output.sampleAxis >= 0) output.nonfinite.push_back(d.candidateOnly.total() > 0);
  }
}

int OutputCollector::sampleAxisOf(const std::string& name) const {
  for (const Output& output : m_outputs)
    if (output.name == name) return output.sampleAxis;
  return -1;
}

std::vector<std::int64_t> OutputCollector::nonfiniteSamples() const {
  std::set<std::int64_t> samples;
  for (const Output& output : m_outputs)
    for (std::size_t s = 0; s < output.nonfinite.size(); ++s)
      if (output.nonfinite[s]) samples.insert(static_cast<std::int64_t>(s));
  return {samples.begin(), samples.end()};
}

std::vector<analysis::SampleDivergence> divergenceOfSamples(const at::Tensor& reference, const at::Tensor& candidate, int axis, base::DType low) {
  const HeldView a = stridedViewOf(reference);
  const HeldView b = stridedViewOf(candidate);
  const bool told = axis >= 0 && axis < reference.dim();
  const session::SampleAxis sampleAxis = told ? session::SampleAxis{session::SampleAxis::Kind::plain, axis} : session::SampleAxis{};
  return analysis::compareTensors(base::Reference(a.view), base::Candidate(b.view),
                                  analysis::layoutOf(a.view.shape, sampleAxis, told ? reference.size(axis) : 1), {low, session::siteTolerance(low), /*ulp=*/true});
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
    if (base::isFloating(s.dtype) && output.total.finitePairs > 0) {
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
    const at::Tensor a = output.joinedReference();
    if (!a.defined() || !a.is_floating_point()) continue;
    all.push_back({output.name, a.sizes().vec(), output.candidateDtype, floatsOf(a), floatsOf(output.joinedCandidate())});
  }
  return all;
}

base::Result<std::string> OutputCollector::checkEager(const std::vector<NamedTensor>& expected) const {
  if (expected.empty()) return std::string();
  std::vector<std::string> names;
  for (const Output& output : m_outputs) names.push_back(output.name);
  double worst = 0;
  for (const NamedTensor& e : expected) {
    const auto output = std::find_if(m_outputs.begin(), m_outputs.end(), [&](const Output& o) { return o.name == e.name; });
    if (output == m_outputs.end())
      return Error{ErrorKind::run, "is saved with the inputs, but the model gives no such output", "eager output '" + e.name + "'",
                   "the model has " + base::quotedChoice(names) + "; export model and inputs together"};
    at::Tensor actual = output->joinedReference();
    if (!actual.defined() && output->reference.size() == 1) actual = output->reference.front();
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
