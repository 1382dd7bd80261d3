// The cells of a heatmap, four bytes each, in an order in which the worse of two cells is the larger number: pooling by
// maximum with non-finite winning is then a plain maximum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::render {

// cured: only in a difference of two runs: A had NaN or infinity there, B has a number.
enum class CellKind : std::uint8_t { value, exactZero, nan, plusInf, minusInf, notRun, cured };
struct Cell {
  CellKind kind = CellKind::notRun;
  bool wholeBatch = false;
  float value = 0;  // kind value only
};

bool isNonfinite(CellKind kind);
// The worse of two cells: NaN over +inf over -inf over cured over values (larger magnitude first) over zero over not run.
Cell worse(const Cell& a, const Cell& b);
std::string cellText(const Cell& cell);   // "0.0132", "NaN", "+inf", "0 (exact)", "not run"
std::string exactText(const Cell& cell);  // the same words; a value to 9 significant digits, which give the float32 back

// not run < exact zero < values by magnitude (the sign in the last bit) < cured < -inf < +inf < NaN.
using PackedCell = std::uint32_t;
inline constexpr PackedCell kPackedNotRun = 0, kPackedZero = 1, kPackedFirstValue = 2;
// So far apart that no two share the first 16 bits: colours are looked up by those.
inline constexpr PackedCell kPackedCured = 0xff100000U, kPackedMinusInf = 0xff200000U, kPackedPlusInf = 0xff300000U, kPackedNan = 0xff400000U;
inline constexpr PackedCell kPackedOutside = 0xff500000U;  // of a pixel beside the map
// A value that is NaN was never evaluated: not run. wholeBatch is not part of it.
PackedCell packed(const Cell& cell);
Cell unpacked(PackedCell cell);
inline bool isPackedNonfinite(PackedCell cell) { return cell >= kPackedMinusInf && cell != kPackedOutside; }

// Rows x samples, row-major. A copy copies the cells: share one by pointer.
class HeatmapData {
 public:
  HeatmapData() = default;
  HeatmapData(std::int64_t rows, std::int64_t samples);  // every cell "not run"
  HeatmapData(std::int64_t rows, std::int64_t samples, const std::vector<Cell>& cells);

  std::int64_t rows() const { return m_rows; }
  std::int64_t samples() const { return m_samples; }
  Cell at(std::int64_t row, std::int64_t sample) const;
  void set(std::int64_t row, std::int64_t sample, const Cell& cell);
  void takeWorse(std::int64_t row, std::int64_t sample, const Cell& cell) { takeWorse(row, sample, packed(cell), cell.wholeBatch); }
  void takeWorse(std::int64_t row, std::int64_t sample, PackedCell cell, bool wholeBatch);

  const PackedCell* row(std::int64_t row) const { return m_cells.data() + row * m_samples; }
  const std::vector<PackedCell>& cells() const { return m_cells; }
  bool hasWholeBatch() const { return !m_wholeBatch.empty(); }
  bool isWholeBatch(std::int64_t row, std::int64_t sample) const { return hasWholeBatch() && m_wholeBatch[index(row, sample)]; }

 private:
  std::size_t index(std::int64_t row, std::int64_t sample) const { return static_cast<std::size_t>(row * m_samples + sample); }
  void setWholeBatch(std::size_t at, bool isWhole);

  std::int64_t m_rows = 0, m_samples = 0;
  std::vector<PackedCell> m_cells;
  std::vector<bool> m_wholeBatch;  // empty: none
};

std::vector<Cell> rowMaxima(const HeatmapData& data);     // the worst cell of each row
std::vector<Cell> sampleMaxima(const HeatmapData& data);  // and of each sample

// Smallest and largest finite magnitude of the values; no values: 0 and 0. hasInfinite: a value that is infinite itself (a relative
// error to a zero), which is no finding of the model's.
struct Magnitudes {
  double smallest = 0, largest = 0;
  bool hasInfinite = false;
};
Magnitudes magnitudesOf(const HeatmapData& data);

}  // namespace ulpscope::render
