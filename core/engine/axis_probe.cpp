#include "core/engine/axis_probe.h"

#include "core/engine/interception.h"
#include "core/engine/values.h"

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

// The dimension that has `samples` entries before and one less after, when it is the only one that changed.
int shrinkingDimension(const at::Tensor& before, const at::Tensor& after, std::int64_t samples) {
  if (!isReadable(before) || !isReadable(after) || before.dim() != after.dim()) return -1;
  int found = -1;
  for (int d = 0; d < before.dim(); ++d) {
    if (before.size(d) == after.size(d)) continue;
    if (found >= 0 || before.size(d) != samples || after.size(d) != samples - 1) return -1;
    found = d;
  }
  return found;
}

}  // namespace

session::SampleAxis TensorAxis::axis() const {
  const session::SampleAxis byValues = values.axis();
  if (byValues.kind != session::SampleAxis::Kind::wholeBatch || shrinking < 0) return byValues;
  return {session::SampleAxis::Kind::plain, shrinking};
}

void AxisProbe::look(std::vector<TensorAxis>& all, std::size_t i, const at::Tensor& before, const at::Tensor& after) const {
  if (all.size() <= i) all.resize(i + 1);
  if (m_fewerSamples)
    all[i].shrinking = shrinkingDimension(before, after, m_probe.samples);
  else
    all[i].values.add(evidenceOf(before, after, m_probe));
}

void AxisProbe::meet(OpEvent& reference, OpEvent& candidate) {
  const OwnCalls own;
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
