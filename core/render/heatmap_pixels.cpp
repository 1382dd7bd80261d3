#include "core/render/heatmap_pixels.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ulpscope::render {
namespace {

constexpr int kHatchPeriod = 6;  // px, as people see them
constexpr int kDroppedBits = 15;  // of a float's 23: 8 stay, and the one before the point

// The middle of those values that share a colour.
float coarse(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits >> kDroppedBits << kDroppedBits) | (1U << (kDroppedBits - 1)));
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
  explicit CellColors(const PixelLook& look) : m_look(look), m_known(std::size_t{1} << 17) {}

  // Never 0: alpha is 255.
  std::uint32_t of(PackedCell cell) {
    std::uint32_t& known = m_known[slotOf(cell)];
    if (known == 0) known = bytes(cellColor(unpacked(cell), m_look), m_look.order);
    return known;
  }
  std::uint32_t hatchOf(PackedCell cell) const { return bytes(quietLine(cellColor(unpacked(cell), m_look)), m_look.order); }

 private:
  // Values by their first bits and their sign; the seven other kinds behind the largest value's.
  static std::size_t slotOf(PackedCell cell) {
    if (cell < kPackedFirstValue) return (std::size_t{1} << 17) - 1 - cell;
    if (cell >= kPackedCured) return (std::size_t{1} << 17) - 16 + (cell & 3U);
    const PackedCell bits = cell - kPackedFirstValue;
    return (bits >> (kDroppedBits + 1) << 1) | (bits & 1U);
  }

  const PixelLook& m_look;
  std::vector<std::uint32_t> m_known;
};

class Painter {
 public:
  Painter(const PooledCells& cells, const PixelLook& look)
      : m_cells(cells), m_colors(look), m_white(bytes({255, 255, 255}, look.order)), m_period(kHatchPeriod * std::max(1, cells.viewport.pixelRatio)) {}

  void paintLine(int y, std::uint32_t* out) {
    const auto width = static_cast<std::size_t>(m_cells.viewport.width);
    const std::size_t at = static_cast<std::size_t>(y) * width;
    const PackedCell* cells = &m_cells.cells[at];
    const std::uint8_t* wholeBatch = m_cells.wholeBatch.empty() ? nullptr : &m_cells.wholeBatch[at];
    PackedCell before = cells[0];
    std::uint32_t color = colorOf(before);
    for (std::size_t x = 0; x < width; ++x) {
      const PackedCell cell = cells[x];
      if (cell != before) {
        before = cell;
        color = colorOf(cell);
      }
      const int phase = (static_cast<int>(x) + y) % m_period;
      if (cell == kPackedNan && phase < m_period / 2)
        out[x] = m_white;
      else if (m_cells.hatchesQuiet && phase < std::max(1, m_period / 6) && isQuiet(cell, wholeBatch != nullptr && wholeBatch[x] != 0))
        out[x] = m_colors.hatchOf(cell);
      else
        out[x] = color;
    }
  }

 private:
  std::uint32_t colorOf(PackedCell cell) { return cell == kPackedOutside ? 0 : m_colors.of(cell); }
  static bool isQuiet(PackedCell cell, bool wholeBatch) {
    return cell == kPackedNotRun || cell == kPackedCured || (wholeBatch && !isPackedNonfinite(cell) && cell != kPackedOutside);
  }

  const PooledCells& m_cells;
  CellColors m_colors;
  std::uint32_t m_white;
  int m_period;
};

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
  const auto width = static_cast<std::size_t>(cells.viewport.width);
  std::vector<std::uint32_t> line(width);
  for (int y = 0; y < cells.viewport.height; ++y) {
    painter.paintLine(y, line.data());
    std::memcpy(out + static_cast<std::size_t>(y) * width * 4, line.data(), width * 4);
  }
}

std::vector<std::uint8_t> heatmapPixels(const HeatmapLevels& levels, const Viewport& viewport, const PixelLook& look) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(viewport.width) * static_cast<std::size_t>(viewport.height) * 4);
  paintPixels(pooled(levels, viewport), look, out.data());
  return out;
}

}  // namespace ulpscope::render
