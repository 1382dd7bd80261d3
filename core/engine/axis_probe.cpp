#include "core/engine/axis_probe.h"

#include "core/engine/interception.h"
#include "core/engine/values.h"

namespace ulpscope::engine {
namespace {

analysis::SampleAxisEvidence evidenceOf(const at::Tensor& before, const at::Tensor& after, const analysis::SampleProbe& probe) {
  analysis::SampleAxisEvidence evidence;
  if (!before.defined() || !after.defined() || before.scalar_type() != after.scalar_type() || !isKnown(before.scalar_type())) return evidence;
  if (before.is_same(after)) return evidence;
  const HeldView a = viewOf(before);
  const HeldView b = viewOf(after);
  return analysis::findSampleAxis(a.view, b.view, probe);
}

void addTo(std::vector<analysis::SampleAxisEvidence>& all, std::size_t i, const analysis::SampleAxisEvidence& evidence) {
  if (all.size() <= i) all.resize(i + 1);
  all[i].add(evidence);
}

}  // namespace

void AxisProbe::meet(OpEvent& reference, OpEvent& candidate) {
  const OwnCalls own;
  SiteAxes& site = m_sites[reference.index];
  for (std::size_t i = 0; i < reference.outputs.size() && i < candidate.outputs.size(); ++i)
    addTo(site.outputs, i, evidenceOf(reference.outputs[i].tensor, candidate.outputs[i].tensor, m_probe));
  for (std::size_t i = 0; i < reference.operands.size() && i < candidate.operands.size(); ++i)
    addTo(site.operands, i, evidenceOf(reference.operands[i].tensor, candidate.operands[i].tensor, m_probe));
}

void AxisProbe::addModelOutputs(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after) {
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) addTo(m_modelOutputs, i, evidenceOf(before[i], after[i], m_probe));
}

const SiteAxes* AxisProbe::find(const ExecutionIndex& index) const {
  const auto found = m_sites.find(index);
  return found == m_sites.end() ? nullptr : &found->second;
}

}  // namespace ulpscope::engine
