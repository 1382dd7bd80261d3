#include "core/analysis/pair_tiles.h"

#include <algorithm>
#include <complex>
#include <cstring>

namespace ulpscope::analysis {
namespace {

// Samples as the middle of [outer, samples, inner], whatever the layout's kind.
struct Split {
  std::int64_t outer, samples, inner;
};

Split splitOf(const SampleLayout& layout) {
  using Kind = session::SampleAxis::Kind;
  switch (layout.kind) {
    case Kind::wholeBatch: return {1, 1, layout.outer * layout.axis * layout.inner};
    case Kind::plain: return {layout.outer, layout.axis, layout.inner};
    case Kind::sampleMajor: return {layout.outer, layout.samples, layout.axis / layout.samples * layout.inner};
    case Kind::sampleMinor: return {layout.outer * (layout.axis / layout.samples), layout.samples, layout.inner};
  }
  return {1, 1, 0};
}

// rows x (samples x length) elements: rows along `outer`; length is shorter than `inner` only where samples is 1.
struct Tile {
  std::int64_t row, rows, sample, samples, offset, length;
  std::int64_t width() const { return samples * length; }
};

// One side of a tile: in place, or packed.
class Side {
 public:
  Side(const TensorView& view, Split split) : m_view(view), m_split(split), m_inPlace(view.isContiguous()) {}

  void move(const Tile& tile) {
    const std::int64_t rowElements = m_split.samples * m_split.inner;
    const std::int64_t first = tile.row * rowElements + tile.sample * m_split.inner + tile.offset;
    const std::size_t size = base::sizeBytes(m_view.dtype);
    if (m_inPlace) {
      m_data = static_cast<const std::byte*>(m_view.data) + static_cast<std::size_t>(first) * size;
      m_step = rowElements;
      return;
    }
    m_step = tile.width();
    if (tile.width() == rowElements)
      packElements(m_view, first, tile.rows * rowElements, m_buffer.bytes());
    else
      for (std::int64_t row = 0; row < tile.rows; ++row)
        packElements(m_view, first + row * rowElements, tile.width(), m_buffer.bytes() + static_cast<std::size_t>(row * tile.width()) * size);
    m_data = m_buffer.bytes();
  }

  Runs runsOf(std::int64_t sample, const Tile& tile) const {
    Runs runs = runsAt(sample, tile);
    // In place: far ahead in one run, or the same place in the next tile.
    if (m_inPlace) runs.ahead = runs.count == 1 ? kLineAhead : tile.rows * m_step;
    return runs;
  }

 private:
  static constexpr std::int64_t kLineAhead = 256;

  Runs runsAt(std::int64_t sample, const Tile& tile) const {
    const auto* data = static_cast<const std::byte*>(m_data) + static_cast<std::size_t>(sample * tile.length) * base::sizeBytes(m_view.dtype);
    if (m_step == tile.length) return {data, m_view.dtype, tile.rows * tile.length, 1, tile.rows * tile.length};
    return {data, m_view.dtype, tile.length, tile.rows, m_step};
  }

  const TensorView& m_view;
  Split m_split;
  bool m_inPlace;
  TileBuffer m_buffer;
  const void* m_data = nullptr;
  std::int64_t m_step = 0;
};

class Walker {
 public:
  Walker(const TensorView& a, const TensorView& b, Split split, const PairVisitor& visit)
      : m_split(split), m_a(a, split), m_b(b, split), m_visit(visit) {}

  void walk() {
    if (m_split.outer == 0 || m_split.samples == 0 || m_split.inner == 0) return;
    if (m_split.inner >= kTileElements)
      walkLong();
    else
      walkShort();
  }

 private:
  void walkLong() {
    for (std::int64_t row = 0; row < m_split.outer; ++row)
      for (std::int64_t sample = 0; sample < m_split.samples; ++sample)
        for (std::int64_t at = 0; at < m_split.inner; at += kTileElements)
          visitTile({row, 1, sample, 1, at, std::min(kTileElements, m_split.inner - at)});
  }

  // Whole rows where some fit, else rows of some cache lines: a sample's elements come together from many rows.
  void walkShort() {
    constexpr std::int64_t kRowElements = 1024;
    std::int64_t samples = std::min(m_split.samples, std::max<std::int64_t>(1, kRowElements / m_split.inner));
    std::int64_t rows = std::min(m_split.outer, kTileElements / (samples * m_split.inner));
    // Few rows: wider ones instead.
    samples = std::min(m_split.samples, std::max<std::int64_t>(1, kTileElements / (rows * m_split.inner)));
    rows = std::min(m_split.outer, std::max<std::int64_t>(1, kTileElements / (samples * m_split.inner)));
    for (std::int64_t row = 0; row < m_split.outer; row += rows)
      for (std::int64_t sample = 0; sample < m_split.samples; sample += samples)
        visitTile({row, std::min(rows, m_split.outer - row), sample, std::min(samples, m_split.samples - sample), 0, m_split.inner});
  }

  void visitTile(const Tile& tile) {
    m_a.move(tile);
    m_b.move(tile);
    for (std::int64_t s = 0; s < tile.samples; ++s) {
      Runs a = m_a.runsOf(s, tile), b = m_b.runsOf(s, tile);
      // One side may lie joined where the other does not: both are cut alike.
      if (a.count != b.count) {
        Runs& longer = a.count == 1 ? a : b;
        longer = {longer.data, longer.dtype, tile.length, tile.rows, tile.length, longer.ahead};
      }
      m_visit(tile.sample + s, a, b);
    }
  }

  Split m_split;
  Side m_a, m_b;
  const PairVisitor& m_visit;
};

template <typename T>
void joinInto(const Runs& runs, T* out) {
  const T* from = static_cast<const T*>(runs.data);
  if (runs.length == 1) {
    for (std::int64_t run = 0; run < runs.count; ++run) out[run] = from[run * runs.step];
    return;
  }
  for (std::int64_t run = 0; run < runs.count; ++run, from += runs.step, out += runs.length)
    if (runs.length < 16)
      for (std::int64_t i = 0; i < runs.length; ++i) out[i] = from[i];
    else
      std::memcpy(out, from, static_cast<std::size_t>(runs.length) * sizeof(T));
}

}  // namespace

std::byte* TileBuffer::bytes() {
  constexpr std::size_t kBytes = static_cast<std::size_t>(kTileElements) * sizeof(std::complex<double>);
  if (!m_memory) m_memory = std::make_unique_for_overwrite<std::byte[]>(kBytes);
  return m_memory.get();
}

const void* joined(const Runs& runs, TileBuffer& buffer) {
  if (runs.count == 1 || runs.step == runs.length) return runs.data;
  switch (base::sizeBytes(runs.dtype)) {
    case 1: joinInto(runs, buffer.as<std::uint8_t>()); break;
    case 2: joinInto(runs, buffer.as<std::uint16_t>()); break;
    case 4: joinInto(runs, buffer.as<std::uint32_t>()); break;
    case 8: joinInto(runs, buffer.as<std::uint64_t>()); break;
    default: joinInto(runs, buffer.as<std::complex<double>>()); break;
  }
  return buffer.bytes();
}

void forEachPairOfRuns(const TensorView& reference, const TensorView& candidate, const SampleLayout& layout, const PairVisitor& visit) {
  Walker(reference, candidate, splitOf(layout), visit).walk();
}

}  // namespace ulpscope::analysis
