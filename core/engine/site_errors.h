// Relative L2 of one run against another, op site by op site: the worst sample's. Private to core/engine.
#pragma once

#include "core/engine/axis_probe.h"
#include "core/engine/comparison.h"
#include "core/engine/lockstep.h"

#include <map>
#include <optional>

namespace ulpscope::engine {

// Whether the second run has the batch's samples in the same order.
enum class SampleOrder { same, reversed };

class SiteErrors : public MeetingObserver {
 public:
  SiteErrors(const AxisProbe& axes, base::DType low, SampleOrder order) : m_axes(axes), m_low(low), m_order(order) {}
  void beginBatch(Batch batch) { m_batch = batch; }
  // Sites whose samples cannot be told apart are left out where the order differs.
  void meet(OpEvent& reference, OpEvent& candidate) override;
  void alone(Side, OpEvent&) override {}  // without a partner there is no error
  // Empty: never compared.
  std::optional<double> at(const SiteKey& site) const;

 private:
  const AxisProbe& m_axes;
  base::DType m_low;
  SampleOrder m_order;
  Batch m_batch;
  std::map<SiteKey, double> m_worst;
};

// The view with its samples along `axis` in reverse, and both shaped so that elements still pair; the layout stays what it was.
// Precondition: layoutOf(view.shape, axis, samples) tells the samples apart.
analysis::TensorView withSamplesSplit(const analysis::TensorView& view, const session::SampleAxis& axis, std::int64_t samples);
analysis::TensorView withSamplesReversed(const analysis::TensorView& view, const session::SampleAxis& axis, std::int64_t samples);

}  // namespace ulpscope::engine
