#include "core/engine/site_errors.h"

#include "core/engine/interception.h"
#include "core/engine/values.h"

#include <cmath>

namespace ulpscope::engine {
namespace {

using session::SampleAxis;

bool comparable(const OpOutput& a, const OpOutput& b) {
  return !a.isView && isReadable(a.tensor) && isReadable(b.tensor) && isInexact(a.tensor) && isInexact(b.tensor) &&
         a.tensor.sizes() == b.tensor.sizes();
}

std::vector<std::int64_t> stridesOf(const analysis::TensorView& view) {
  if (!view.strides.empty() || view.shape.empty()) return view.strides;
  std::vector<std::int64_t> strides(view.shape.size(), 1);
  for (std::size_t d = strides.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * view.shape[d + 1];
  return strides;
}

// The dimension that counts the samples alone, once a folded one is split in two.
std::size_t sampleDimension(const SampleAxis& axis) {
  return static_cast<std::size_t>(axis.axis) + (axis.kind == SampleAxis::Kind::sampleMinor ? 1U : 0U);
}

}  // namespace

analysis::TensorView withSamplesSplit(const analysis::TensorView& view, const SampleAxis& axis, std::int64_t samples) {
  analysis::TensorView split = view;
  split.strides = stridesOf(view);
  if (axis.kind == SampleAxis::Kind::plain) return split;
  const auto at = static_cast<std::size_t>(axis.axis);
  const std::int64_t others = view.shape[at] / samples;
  const std::int64_t stride = split.strides[at];
  const bool major = axis.kind == SampleAxis::Kind::sampleMajor;
  split.shape[at] = major ? samples : others;
  split.shape.insert(split.shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, major ? others : samples);
  split.strides[at] = stride * split.shape[at + 1];
  split.strides.insert(split.strides.begin() + static_cast<std::ptrdiff_t>(at) + 1, stride);
  return split;
}

analysis::TensorView withSamplesReversed(const analysis::TensorView& view, const SampleAxis& axis, std::int64_t samples) {
  analysis::TensorView turned = withSamplesSplit(view, axis, samples);
  const std::size_t d = sampleDimension(axis);
  const std::int64_t last = (samples - 1) * turned.strides[d] * static_cast<std::int64_t>(base::sizeBytes(view.dtype));
  turned.data = static_cast<const std::byte*>(view.data) + last;
  turned.strides[d] = -turned.strides[d];
  return turned;
}

void SiteErrors::meet(OpEvent& reference, OpEvent& candidate) {
  const OwnCalls own;
  if (reference.op != candidate.op || reference.outputs.size() != candidate.outputs.size() || !reference.judged) return;
  const SiteAxes* axes = m_axes.find(reference.index);
  for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
    const OpOutput& a = reference.outputs[i];
    const OpOutput& b = candidate.outputs[i];
    if (!comparable(a, b)) continue;
    const SampleAxis axis = axes && i < axes->outputs.size() ? axes->outputs[i].axis() : SampleAxis{};
    const analysis::SampleLayout layout = analysis::layoutOf(a.tensor.sizes().vec(), axis, m_batch.size);
    const bool told = layout.kind != SampleAxis::Kind::wholeBatch;
    if (m_order == SampleOrder::reversed && !told && m_batch.size > 1) continue;
    const HeldView refView = stridedViewOf(a.tensor);
    const HeldView otherView = stridedViewOf(b.tensor);
    const bool turn = m_order == SampleOrder::reversed && told;
    const auto first = turn ? withSamplesSplit(refView.view, axis, m_batch.size) : refView.view;
    const auto second = turn ? withSamplesReversed(otherView.view, axis, m_batch.size) : otherView.view;
    for (const auto& d : analysis::compareTensors(base::Reference(first), base::Candidate(second), layout, {m_low, session::siteTolerance(m_low), false})) {
      if (d.finitePairs == 0) continue;
      double& worst = m_worst.try_emplace(SiteKey{reference.index, static_cast<int>(i)}, 0).first->second;
      worst = std::max(worst, d.relL2());
    }
  }
}

std::optional<double> SiteErrors::at(const SiteKey& site) const {
  const auto found = m_worst.find(site);
  return found == m_worst.end() ? std::nullopt : std::optional<double>(found->second);
}

}  // namespace ulpscope::engine
