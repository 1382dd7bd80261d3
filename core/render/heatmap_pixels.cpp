#include "core/render/heatmap_pixels.h"
#include "core/render/wide_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ulpscope::render {
namespace {

constexpr int kHatchPeriod = 6;  // px, as people see them

// The middle of those values that share a colour.
float coarse(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits >> kColorDroppedBits << kColorDroppedBits) | (1U << (kColorDroppedBits - 1)));
}

std::uint32_t bytes(Rgb c, PixelOrder order) {
  const std::uint8_t four[] = {order == PixelOrder::rgba ? c.r : c.b, c.g, order == PixelOrder::rgba ? c.b : c.r, 255};
  std::uint32_t result = 0;
  std::memcpy(&result, four, 4);
  return result;
}

Rgb quietLine(Rgb under) {
  const bool bright = under.r * 2 + under.g * 5 + under.b > 4 * 255;
  const auto shift = [bright](std::uint8_t v) { return static_cast<std::uint8_t>(bright ? v * 6 / 10 : v + (255 - v) * 4 / 10); };
  return {shift(under.r), shift(under.g), shift(under.b)};
}

// Colours of cells, each worked out once.
class CellColors {
 public:
  explicit CellColors(const PixelLook& look) : m_look(look), m_known(kColorSlots) {}

  void lookUp(std::uint32_t* out, const PackedCell* cells, std::size_t count) {
    if (render::lookUp(out, cells, m_known.data(), static_cast<std::int64_t>(count))) return;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t& known = m_known[colorSlot(cells[i])];
      if (known == 0 && cells[i] != kPackedOutside) known = bytes(cellColor(unpacked(cells[i]), m_look), m_look.order);
      out[i] = known;  // alpha is 255: no colour is 0, but beside the map
    }
  }
  std::uint32_t hatchOf(PackedCell cell) const { return bytes(quietLine(cellColor(unpacked(cell), m_look)), m_look.order); }

 private:
  const PixelLook& m_look;
  std::vector<std::uint32_t> m_known;
};

class Painter {
 public:
  Painter(const PooledCells& cells, const PixelLook& look)
      : m_cells(cells), m_colors(look), m_width(static_cast<std::size_t>(cells.width)), m_period(kHatchPeriod * std::max(1, cells.viewport.pixelRatio)), m_plain(m_width) {
    for (std::size_t x = 0; x < m_width + static_cast<std::size_t>(m_period); ++x) m_white.push_back(isOn(x * static_cast<std::size_t>(cells.stepX), 0, m_period / 2) ? 0xffffffffU : 0);
  }

  // Where cells are higher than a pixel most lines are the one above again. Precondition: out holds that line, as it was painted.
  void paintLine(int y, std::uint32_t* out) {
    const PackedCell* cells = &m_cells.cells[static_cast<std::size_t>(y) * m_width];
    const auto width = static_cast<std::int64_t>(m_width);
    const bool isAsAbove = y > 0 && std::memcmp(cells, cells - m_width, m_width * sizeof(PackedCell)) == 0;
    if (isAsAbove && !m_isHatched) return;
    if (!isAsAbove) {
      m_colors.lookUp(m_plain.data(), cells, m_width);
      m_isHatched = m_cells.hatchesQuiet || hasNan(cells, width);
    }
    std::memcpy(out, m_plain.data(), m_width * sizeof(std::uint32_t));
    if (m_isHatched) whitenNan(out, cells, m_white.data() + y * m_cells.stepY % m_period / m_cells.stepX, width);
    if (m_cells.hatchesQuiet) hatchLine(y, cells, m_cells.wholeBatch.empty() ? nullptr : &m_cells.wholeBatch[static_cast<std::size_t>(y) * m_width], out);
  }

 private:
  bool isOn(std::size_t x, int y, int thickness) const { return (static_cast<int>(x) + y) % m_period < thickness; }

  void hatchLine(int y, const PackedCell* cells, const std::uint8_t* wholeBatch, std::uint32_t* out) const {
    for (std::size_t x = 0; x < m_width; ++x) {
      const bool isWhole = wholeBatch != nullptr && wholeBatch[x] != 0 && !isPackedNonfinite(cells[x]) && cells[x] != kPackedOutside;
      if ((isWhole || cells[x] == kPackedNotRun || cells[x] == kPackedCured) && isOn(x, y, std::max(1, m_period / 6))) out[x] = m_colors.hatchOf(cells[x]);
    }
  }

  const PooledCells& m_cells;
  CellColors m_colors;
  std::size_t m_width;
  int m_period;
  std::vector<std::uint32_t> m_plain;  // the last line's colours, before hatching
  bool m_isHatched = false;            // something in it is
  std::vector<std::uint32_t> m_white;  // where NaN's white lines stand, from a line that is a multiple of the period
};

// Each pixel `step` times; 2 is what most screens have.
void widen(const std::vector<std::uint32_t>& line, std::size_t step, std::uint32_t* out) {
  for (const std::uint32_t pixel : line) {
    out[0] = out[1] = pixel;
    for (std::size_t i = 2; i < step; ++i) out[i] = pixel;
    out += step;
  }
}

}  // namespace

Rgb cellColor(const Cell& cell, const PixelLook& look) {
  const SpecialColors special = specialColors(look.theme);
  switch (cell.kind) {
    case CellKind::nan: return special.nan;
    case CellKind::plusInf: return special.plusInf;
    case CellKind::minusInf: return special.minusInf;
    case CellKind::exactZero: return special.exactZero;
    case CellKind::notRun: return special.notRun;
    case CellKind::cured: return colorAt(ColorMap::vik, 0);
    case CellKind::value: break;
  }
  const float value = std::bit_cast<std::uint32_t>(cell.value) << 1 >= 0xff000000U ? cell.value : coarse(cell.value);
  return colorAt(look.map, colorPosition(value, look.range, look.map));
}

void paintPixels(const PooledCells& cells, const PixelLook& look, std::uint8_t* out) {
  Painter painter(cells, look);
  const auto width = static_cast<std::size_t>(cells.viewport.width), height = static_cast<std::size_t>(cells.viewport.height);
  const auto stepX = static_cast<std::size_t>(cells.stepX), stepY = static_cast<std::size_t>(cells.stepY);
  std::vector<std::uint32_t> line(static_cast<std::size_t>(cells.width)), wide(stepX > 1 ? line.size() * stepX : 0);
  for (std::size_t y = 0; y < static_cast<std::size_t>(cells.height); ++y) {
    painter.paintLine(static_cast<int>(y), line.data());
    if (!wide.empty()) widen(line, stepX, wide.data());
    const std::uint32_t* pixels = wide.empty() ? line.data() : wide.data();
    for (std::size_t at = y * stepY; at < std::min(height, (y + 1) * stepY); ++at) std::memcpy(out + at * width * 4, pixels, width * 4);
  }
}

std::vector<std::uint8_t> heatmapPixels(const HeatmapLevels& levels, const Viewport& viewport, const PixelLook& look) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(viewport.width) * static_cast<std::size_t>(viewport.height) * 4);
  paintPixels(pooled(levels, viewport), look, out.data());
  return out;
}

}  // namespace ulpscope::render
