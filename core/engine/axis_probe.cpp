#include "core/engine/axis_probe.h"

#include "core/engine/inputs.h"
#include "core/engine/interception.h"
#include "core/engine/values.h"

#include <algorithm>

namespace ulpscope::engine {
namespace {

analysis::SampleAxisEvidence evidenceOf(const at::Tensor& before, const at::Tensor& after, const analysis::SampleProbe& probe) {
  analysis::SampleAxisEvidence evidence;
  if (!isReadable(before) || !isReadable(after) || before.scalar_type() != after.scalar_type()) return evidence;
  if (before.is_same(after)) return evidence;
  const HeldView a = viewOf(before);
  const HeldView b = viewOf(after);
  return analysis::findSampleAxis(a.view, b.view, probe);
}

constexpr std::int64_t kReplacementsTried = 64;

std::int64_t differingInputs(const ReferenceSet& set, std::int64_t a, std::int64_t b) {
  return std::count_if(set.inputs.begin(), set.inputs.end(), [&](const auto& named) {
    const InputTensor& input = named.second;
    return input.tensor.defined() && input.sampleAxis >= 0 && !input.tensor.select(input.sampleAxis, a).equal(input.tensor.select(input.sampleAxis, b));
  });
}

ShapeEvidence shapeEvidenceOf(const at::Tensor& before, const at::Tensor& after, std::int64_t samples) {
  using Kind = ShapeEvidence::Kind;
  if (!isReadable(before) || !isReadable(after) || before.dim() != after.dim()) return {};
  ShapeEvidence evidence;
  for (int d = 0; d < before.dim(); ++d) {
    const std::int64_t less = before.size(d) - after.size(d);
    if (less == 0) continue;
    if (evidence.kind == Kind::counts || less < 0 || before.size(d) != samples * less) return {};
    evidence = {Kind::counts, d, less};
  }
  return evidence;
}

}  // namespace

session::SampleAxis TensorAxis::axis() const {
  using Kind = session::SampleAxis::Kind;
  if (displaced) return {};
  const bool counts = shape.kind == ShapeEvidence::Kind::counts;
  if (values.changed && !values.unconfined()) {
    analysis::SampleAxisEvidence left = values;
    if (counts && left.qualifying.size() > 1)
      std::erase_if(left.qualifying, [&](const session::SampleAxis& axis) { return axis.axis != shape.dimension; });
    return left.axis();
  }
  if (!counts || shape.perSample != 1) return {};
  const bool inPlace = std::find(values.coupled.begin(), values.coupled.end(), shape.dimension) != values.coupled.end();
  if (values.changed && !inPlace) return {};
  return {Kind::plain, shape.dimension};
}

std::optional<std::int64_t> replacementFor(const ReferenceSet& set, std::int64_t replaced) {
  const auto all = static_cast<std::int64_t>(set.samples.ids.size());
  const std::int64_t counted = std::count_if(set.inputs.begin(), set.inputs.end(), [](const auto& named) { return named.second.sampleAxis >= 0; });
  std::optional<std::int64_t> best;
  std::int64_t most = 0;
  for (std::int64_t step = 1; step < all && most < counted && (step <= kReplacementsTried || !best); ++step) {
    const std::int64_t by = (replaced + step) % all;
    const std::int64_t differing = differingInputs(set, replaced, by);
    if (differing <= most) continue;
    most = differing;
    best = by;
  }
  return best;
}

void AxisProbe::look(std::vector<TensorAxis>& all, std::size_t i, const at::Tensor& before, const at::Tensor& after) const {
  if (all.size() <= i) all.resize(i + 1);
  TensorAxis& axis = all[i];
  if (m_order.empty()) {
    axis.values.add(evidenceOf(before, after, m_probe));
    return;
  }
  if (static_cast<std::int64_t>(m_order.size()) < m_probe.samples) axis.shape = shapeEvidenceOf(before, after, m_probe.samples);
  if (axis.values.unconfined() || m_drewRandomNumbers || !isReadable(before) || !isReadable(after)) return;
  const HeldView a = viewOf(before);
  const HeldView b = viewOf(after);
  axis.displaced = axis.displaced || !analysis::keepsPlaces(a.view, b.view, axis.axis(), m_probe.samples, m_order);
}

void AxisProbe::meet(OpEvent& reference, OpEvent& candidate) {
  if (reference.op != candidate.op) return;
  const OwnCalls own;
  m_drewRandomNumbers = m_drewRandomNumbers || reference.random;
  SiteAxes& site = m_sites[reference.index];
  for (std::size_t i = 0; i < reference.outputs.size() && i < candidate.outputs.size(); ++i)
    look(site.outputs, i, reference.outputs[i].tensor, candidate.outputs[i].tensor);
  for (std::size_t i = 0; i < reference.operands.size() && i < candidate.operands.size(); ++i)
    look(site.operands, i, reference.operands[i].tensor, candidate.operands[i].tensor);
}

void AxisProbe::addModelOutputs(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after) {
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) look(m_modelOutputs, i, before[i], after[i]);
}

const SiteAxes* AxisProbe::find(const ExecutionIndex& index) const {
  const auto found = m_sites.find(index);
  return found == m_sites.end() ? nullptr : &found->second;
}

}  // namespace ulpscope::engine
