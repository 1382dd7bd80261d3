#include "core/analysis/sample_axis.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ulpscope::analysis {
using session::SampleAxis;

namespace {

constexpr double kFarTheMost = 2;
constexpr double kSamePlace = 1e-3;

// What changed at one index of a dimension.
struct Change {
  bool any = false;
  double squares = 0;
};
using Changes = std::vector<Change>;  // of one dimension

void addChange(Change& change, double before, double after) {
  change.any = true;
  const double difference = after - before;
  if (std::isfinite(difference)) change.squares += difference * difference;
}

std::vector<Changes> changesOf(const TensorView& before, const TensorView& after) {
  const std::size_t rank = before.shape.size();
  std::vector<Changes> changes(rank);
  for (std::size_t d = 0; d < rank; ++d) changes[d].resize(static_cast<std::size_t>(before.shape[d]));
  const std::size_t size = base::sizeBytes(before.dtype);
  const auto* a = static_cast<const std::byte*>(before.data);
  const auto* b = static_cast<const std::byte*>(after.data);
  for (std::int64_t i = 0, n = before.elementCount(); i < n; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * size;
    if (std::memcmp(a + offset, b + offset, size) == 0) continue;
    const double was = elementAt(before, i), is = elementAt(after, i);
    std::int64_t rest = i;
    for (std::size_t d = rank; d-- > 0;) {
      addChange(changes[d][static_cast<std::size_t>(rest % before.shape[d])], was, is);
      rest /= before.shape[d];
    }
  }
  return changes;
}

bool allWithin(const Changes& changes, const SampleLayout& layout, std::int64_t sample) {
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (changes[i].any && layout.sampleOf(static_cast<std::int64_t>(i)) != sample) return false;
  return true;
}

bool isCoupled(const Changes& changes, const SampleProbe& probe) {
  if (static_cast<std::int64_t>(changes.size()) != probe.samples) return false;
  const double own = changes[static_cast<std::size_t>(probe.replaced)].squares;
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (!changes[i].any || (static_cast<std::int64_t>(i) != probe.replaced && !(own >= kFarTheMost * changes[i].squares))) return false;
  return own > 0;
}

std::vector<SampleAxis> qualifying(const TensorView& view, const std::vector<Changes>& changes, const SampleProbe& probe) {
  std::vector<SampleAxis> found;
  for (std::size_t d = 0; d < view.shape.size(); ++d)
    for (const SampleAxis::Kind kind : {SampleAxis::Kind::plain, SampleAxis::Kind::sampleMajor, SampleAxis::Kind::sampleMinor}) {
      const SampleAxis axis{kind, static_cast<int>(d)};
      const SampleLayout layout = layoutOf(view.shape, axis, probe.samples);
      if (layout.kind == kind && allWithin(changes[d], layout, probe.replaced)) found.push_back(axis);
      if (layout.kind == SampleAxis::Kind::plain) break;  // size == samples: folding by 1 is the same thing
    }
  return found;
}

// Where along the axis of `from` the entry lies that belongs at `a` of `to`.
std::int64_t placeBefore(const SampleLayout& from, const SampleLayout& to, std::int64_t a, const std::vector<std::int64_t>& order) {
  const std::int64_t perSample = to.axis / to.samples;
  const std::int64_t sample = order[static_cast<std::size_t>(to.sampleOf(a))];
  switch (to.kind) {
    case SampleAxis::Kind::sampleMajor: return sample * perSample + a % perSample;
    case SampleAxis::Kind::sampleMinor: return a / to.samples * from.samples + sample;
    default: return sample;
  }
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
  std::erase_if(coupled, [&](int d) { return std::find(other.coupled.begin(), other.coupled.end(), d) == other.coupled.end(); });
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
  const std::vector<Changes> changes = changesOf(before, after);
  evidence.qualifying = qualifying(before, changes, probe);
  for (std::size_t d = 0; d < changes.size(); ++d)
    if (isCoupled(changes[d], probe)) evidence.coupled.push_back(static_cast<int>(d));
  return evidence;
}

bool keepsPlaces(const TensorView& before, const TensorView& after, const SampleAxis& axis, std::int64_t samples,
                 const std::vector<std::int64_t>& order) {
  const SampleLayout from = layoutOf(before.shape, axis, samples);
  const SampleLayout to = layoutOf(after.shape, axis, static_cast<std::int64_t>(order.size()));
  const bool comparable = from.kind == axis.kind && to.kind == axis.kind && axis.kind != SampleAxis::Kind::wholeBatch && before.dtype == after.dtype &&
                          from.outer == to.outer && from.inner == to.inner && from.axis / from.samples == to.axis / to.samples;
  if (!comparable) return true;
  double difference = 0, norm = 0;
  std::int64_t i = 0;
  for (std::int64_t outer = 0; outer < to.outer; ++outer)
    for (std::int64_t a = 0; a < to.axis; ++a) {
      const std::int64_t start = (outer * from.axis + placeBefore(from, to, a, order)) * from.inner;
      for (std::int64_t inner = 0; inner < to.inner; ++inner, ++i) {
        const double expected = elementAt(before, start + inner), found = elementAt(after, i);
        if (!std::isfinite(expected) || !std::isfinite(found)) continue;
        difference += (found - expected) * (found - expected);
        norm += expected * expected;
      }
    }
  return difference <= kSamePlace * kSamePlace * norm;
}

}  // namespace ulpscope::analysis
