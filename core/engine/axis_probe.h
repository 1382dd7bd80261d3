// Finds each site's sample axis: two reference runs whose inputs differ in one sample, compared where they meet. Private to
// core/engine.
#pragma once

#include "core/analysis/sample_axis.h"
#include "core/engine/lockstep.h"

#include <map>
#include <string>
#include <vector>

namespace ulpscope::engine {

// What is known of one tensor's axis.
struct TensorAxis {
  analysis::SampleAxisEvidence values;  // from replaced samples
  int shrinking = -1;                   // the only dimension that counted the samples when there was one less

  // By values where they settle it, else by shape.
  session::SampleAxis axis() const;
};

// One op's outputs and operands, by execution index.
struct SiteAxes {
  std::vector<TensorAxis> outputs;
  std::vector<TensorAxis> operands;
};

class AxisProbe : public MeetingObserver {
 public:
  // Both runs have the batch; the second one's sample `probe.replaced` has other inputs.
  void beginProbe(const analysis::SampleProbe& probe) {
    m_probe = probe;
    m_fewerSamples = false;
  }
  // The second run has one sample less: the dimension that shrinks with it counts the samples, also where values say nothing
  // (saturated outputs, samples all alike) or where samples hang on each other.
  void beginFewerSamples(std::int64_t samples) {
    m_probe.samples = samples;
    m_fewerSamples = true;
  }
  void meet(OpEvent& reference, OpEvent& candidate) override;
  void alone(Side, OpEvent&) override {}  // control flow hangs on the sample: such a site stays without an axis
  // The model's flattened outputs of the two runs.
  void addModelOutputs(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after);

  const SiteAxes* find(const ExecutionIndex& index) const;
  const std::vector<TensorAxis>& modelOutputs() const { return m_modelOutputs; }

 private:
  analysis::SampleProbe m_probe;
  bool m_fewerSamples = false;
  std::map<ExecutionIndex, SiteAxes> m_sites;
  std::vector<TensorAxis> m_modelOutputs;

  void look(std::vector<TensorAxis>& all, std::size_t i, const at::Tensor& before, const at::Tensor& after) const;
};

}  // namespace ulpscope::engine
