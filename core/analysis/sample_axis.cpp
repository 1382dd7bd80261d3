#include "core/analysis/sample_axis.h"

#include <algorithm>
#include <cstring>

namespace ulpscope::analysis {
using session::SampleAxis;

namespace {

// For each dimension: at which indices some element changed.
std::vector<std::vector<bool>> changedIndices(const TensorView& before, const TensorView& after) {
  const std::size_t rank = before.shape.size();
  std::vector<std::vector<bool>> changed(rank);
  for (std::size_t d = 0; d < rank; ++d) changed[d].assign(static_cast<std::size_t>(before.shape[d]), false);
  const std::size_t size = base::sizeBytes(before.dtype);
  const auto* a = static_cast<const std::byte*>(before.data);
  const auto* b = static_cast<const std::byte*>(after.data);
  for (std::int64_t i = 0, n = before.elementCount(); i < n; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * size;
    if (std::memcmp(a + offset, b + offset, size) == 0) continue;
    std::int64_t rest = i;
    for (std::size_t d = rank; d-- > 0;) {
      changed[d][static_cast<std::size_t>(rest % before.shape[d])] = true;
      rest /= before.shape[d];
    }
  }
  return changed;
}

bool allWithin(const std::vector<bool>& changed, const SampleLayout& layout, std::int64_t sample) {
  for (std::size_t i = 0; i < changed.size(); ++i)
    if (changed[i] && layout.sampleOf(static_cast<std::int64_t>(i)) != sample) return false;
  return true;
}

std::vector<SampleAxis> qualifying(const TensorView& view, const std::vector<std::vector<bool>>& changed, const SampleProbe& probe) {
  std::vector<SampleAxis> found;
  for (std::size_t d = 0; d < view.shape.size(); ++d)
    for (const SampleAxis::Kind kind : {SampleAxis::Kind::plain, SampleAxis::Kind::sampleMajor, SampleAxis::Kind::sampleMinor}) {
      const SampleAxis axis{kind, static_cast<int>(d)};
      const SampleLayout layout = layoutOf(view.shape, axis, probe.samples);
      if (layout.kind == kind && allWithin(changed[d], layout, probe.replaced)) found.push_back(axis);
      if (layout.kind == SampleAxis::Kind::plain) break;  // size == samples: folding by 1 is the same thing
    }
  return found;
}

}  // namespace

SampleAxis SampleAxisEvidence::axis() const { return qualifying.size() == 1 ? qualifying.front() : SampleAxis{}; }

void SampleAxisEvidence::add(const SampleAxisEvidence& other) {
  if (!other.changed) return;
  if (!changed) {
    *this = other;
    return;
  }
  std::erase_if(qualifying, [&](const SampleAxis& axis) {
    return std::none_of(other.qualifying.begin(), other.qualifying.end(),
                        [&](const SampleAxis& o) { return o.kind == axis.kind && o.axis == axis.axis; });
  });
}

SampleAxisEvidence findSampleAxis(const TensorView& before, const TensorView& after, const SampleProbe& probe) {
  SampleAxisEvidence evidence;
  if (before.shape != after.shape) {
    evidence.changed = true;
    return evidence;
  }
  const std::size_t bytes = static_cast<std::size_t>(before.elementCount()) * base::sizeBytes(before.dtype);
  if (bytes == 0 || std::memcmp(before.data, after.data, bytes) == 0) return evidence;
  evidence.changed = true;
  evidence.qualifying = qualifying(before, changedIndices(before, after), probe);
  return evidence;
}

}  // namespace ulpscope::analysis
