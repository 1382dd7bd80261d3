// Finds each site's sample axis: two reference runs whose inputs differ in one sample, compared where they meet. Private to
// core/engine.
#pragma once

#include "core/analysis/sample_axis.h"
#include "core/engine/lockstep.h"

#include <map>
#include <string>
#include <vector>

namespace ulpscope::engine {

// Evidence for one op's outputs and operands, by execution index.
struct SiteAxes {
  std::vector<analysis::SampleAxisEvidence> outputs;
  std::vector<analysis::SampleAxisEvidence> operands;
};

class AxisProbe : public MeetingObserver {
 public:
  void beginProbe(const analysis::SampleProbe& probe) { m_probe = probe; }
  void meet(OpEvent& reference, OpEvent& candidate) override;
  void alone(Side, OpEvent&) override {}  // control flow hangs on the sample: such a site stays without an axis
  // The model's flattened outputs of the two runs.
  void addModelOutputs(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after);

  const SiteAxes* find(const ExecutionIndex& index) const;
  const std::vector<analysis::SampleAxisEvidence>& modelOutputs() const { return m_modelOutputs; }

 private:
  analysis::SampleProbe m_probe;
  std::map<ExecutionIndex, SiteAxes> m_sites;
  std::vector<analysis::SampleAxisEvidence> m_modelOutputs;
};

}  // namespace ulpscope::engine
