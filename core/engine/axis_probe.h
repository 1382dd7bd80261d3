// Finds each site's sample axis: two reference runs whose inputs differ in one sample, in the number of samples or in their
// order, compared where they meet. Private to core/engine.
#pragma once

#include "core/analysis/sample_axis.h"
#include "core/engine/lockstep.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::engine {

// What one sample less does to a tensor's shape.
struct ShapeEvidence {
  enum class Kind {
    open,   // nothing is known of it, or no dimension or several ones changed
    counts  // one dimension alone changed, from samples * perSample to (samples - 1) * perSample
  } kind = Kind::open;
  int dimension = -1;
  std::int64_t perSample = 0;
};

// What is known of one tensor's axis.
struct TensorAxis {
  analysis::SampleAxisEvidence values;  // from replaced samples
  ShapeEvidence shape;
  bool displaced = false;  // other samples' entries came where this one's should be when the samples were in another order

  // None where displaced. By values; where these allow several axes, the one that the shape counts by. The shape alone decides
  // where replacing a sample changed nothing (saturated outputs, samples all alike), and where samples hang on each other, each
  // in its own place.
  session::SampleAxis axis() const;
};

// One op's outputs and operands, by execution index.
struct SiteAxes {
  std::vector<TensorAxis> outputs;
  std::vector<TensorAxis> operands;
};

struct ReferenceSet;

// The sample of the set to put in the place of another: of the next 64 that one which differs in most inputs, since a tensor says
// nothing where the input that it hangs on stays the same. Nothing: they are all alike.
std::optional<std::int64_t> replacementFor(const ReferenceSet& set, std::int64_t replaced);

class AxisProbe : public MeetingObserver {
 public:
  // Both runs have the batch; the second one's sample `probe.replaced` has other inputs.
  void beginProbe(const analysis::SampleProbe& probe) {
    m_probe = probe;
    m_order.clear();
  }
  // The second run has the samples `order` of the batch, one less or all: the dimension that shrinks counts the samples, and each
  // sample's entries must be at its new place. After the probes above.
  void beginOrder(std::int64_t samples, std::vector<std::int64_t> order) {
    m_probe.samples = samples;
    m_order = std::move(order);
    m_drewRandomNumbers = false;
  }
  void meet(OpEvent& reference, OpEvent& candidate) override;
  void alone(Side, OpEvent&) override {}  // control flow hangs on the sample: such a site stays without an axis
  // Where nobody looked at the ops, before addModelOutputs.
  void noteRandomNumbers(bool drawn) { m_drewRandomNumbers = m_drewRandomNumbers || drawn; }
  // The model's flattened outputs of the two runs.
  void addModelOutputs(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after);

  const SiteAxes* find(const ExecutionIndex& index) const;
  std::size_t siteCount() const { return m_sites.size(); }  // ops that met in a forward; 0 without a probe
  const std::vector<TensorAxis>& modelOutputs() const { return m_modelOutputs; }

 private:
  analysis::SampleProbe m_probe;
  std::vector<std::int64_t> m_order;  // empty: a probe that replaces a sample
  bool m_drewRandomNumbers = false;   // these go by place, not by sample
  std::map<ExecutionIndex, SiteAxes> m_sites;
  std::vector<TensorAxis> m_modelOutputs;

  void look(std::vector<TensorAxis>& all, std::size_t i, const at::Tensor& before, const at::Tensor& after) const;
};

}  // namespace ulpscope::engine
