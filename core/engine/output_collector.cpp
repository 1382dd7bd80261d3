#include "core/engine/output_collector.h"

#include "core/base/nearest_names.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

base::Status OutputCollector::add(Batch batch, const std::vector<NamedTensor>& reference, const std::vector<NamedTensor>& candidate) {
  if (m_outputs.empty())
    for (std::size_t i = 0; i < reference.size(); ++i) {
      Output output;
      output.name = reference[i].name;
      output.sampleAxis = axisOf(i, reference[i].tensor, batch);
      m_outputs.push_back(std::move(output));
    }
  if (reference.size() != m_outputs.size() || candidate.size() != reference.size())
    return Error{ErrorKind::run, fmt::format("the model gives {} outputs in the reference and {} in the candidate", reference.size(), candidate.size()),
                 fmt::format("batch from sample {}", batch.first), "control flow hangs on rounding: use --batch-size 1"};
  for (std::size_t i = 0; i < m_outputs.size(); ++i) {
    Output& output = m_outputs[i];
    const at::Tensor& a = reference[i].tensor;
    const at::Tensor& b = candidate[i].tensor;
    if (a.sizes() != b.sizes())
      return Error{ErrorKind::run, fmt::format("shape {} in the reference, {} in the candidate", shapeText(a.sizes()), shapeText(b.sizes())),
                   "output '" + output.name + "'", "its shape hangs on rounding; decisions and errors cannot be compared there"};
    output.reference.push_back(a.detach().clone());
    output.candidate.push_back(b.detach().clone());
    if (!isReadable(a) || !isReadable(b)) continue;
    output.candidateDtype = dtypeOf(b.scalar_type());
    const HeldView refView = viewOf(a);
    const HeldView candView = viewOf(b);
    output.total.merge(analysis::compareTensors(base::Reference(refView.view), base::Candidate(candView.view),
                                                analysis::layoutOf(a.sizes().vec(), {}, batch.size),
                                                {m_low, session::siteTolerance(m_low), /*ulp=*/true}).front());
  }
  return base::success();
}

std::vector<session::OutputSummary> OutputCollector::summaries() const {
  std::vector<session::OutputSummary> all;
  for (const Output& output : m_outputs) {
    session::OutputSummary s;
    s.name = output.name;
    const at::Tensor joinedTensor = output.joinedReference();
    s.shape = joinedTensor.defined() ? joinedTensor.sizes().vec() : output.reference.front().sizes().vec();
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
