#include "core/render/heatmap_data.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ulpscope::render {
namespace {

constexpr std::uint32_t kInfinity = 0x7f800000U;

std::string textOf(const Cell& cell, std::string (*number)(double)) {
  switch (cell.kind) {
    case CellKind::value: return number(cell.value);
    case CellKind::exactZero: return "0 (exact)";
    case CellKind::nan: return "NaN";
    case CellKind::plusInf: return "+inf";
    case CellKind::minusInf: return "-inf";
    case CellKind::notRun: return "no number";
    case CellKind::cured: return "finite again";
  }
  return {};
}

}  // namespace

bool isNonfinite(CellKind kind) { return kind == CellKind::nan || kind == CellKind::plusInf || kind == CellKind::minusInf; }

PackedCell packed(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::notRun: return kPackedNotRun;
    case CellKind::exactZero: return kPackedZero;
    case CellKind::cured: return kPackedCured;
    case CellKind::minusInf: return kPackedMinusInf;
    case CellKind::plusInf: return kPackedPlusInf;
    case CellKind::nan: return kPackedNan;
    case CellKind::value: break;
  }
  if (std::isnan(cell.value)) return kPackedNotRun;
  const auto bits = std::bit_cast<std::uint32_t>(cell.value);
  return ((bits << 1) | (bits >> 31)) + kPackedFirstValue;
}

Cell unpacked(PackedCell cell) {
  switch (cell) {
    case kPackedOutside:
    case kPackedNotRun: return {CellKind::notRun, false, 0};
    case kPackedZero: return {CellKind::exactZero, false, 0};
    case kPackedCured: return {CellKind::cured, false, 0};
    case kPackedMinusInf: return {CellKind::minusInf, false, 0};
    case kPackedPlusInf: return {CellKind::plusInf, false, 0};
    case kPackedNan: return {CellKind::nan, false, 0};
    default: break;
  }
  const std::uint32_t bits = cell - kPackedFirstValue;
  return {CellKind::value, false, std::bit_cast<float>((bits >> 1) | (bits << 31))};
}

Cell worse(const Cell& a, const Cell& b) {
  // The last bit is the sign: of two values of one magnitude the first stands.
  const PackedCell x = packed(a), y = packed(b);
  const bool isSameMagnitude = a.kind == CellKind::value && b.kind == CellKind::value && (x & ~1U) == (y & ~1U);
  return y > x && !isSameMagnitude ? b : a;
}

std::string cellText(const Cell& cell) { return textOf(cell, base::shortNumber); }
std::string exactText(const Cell& cell) { return textOf(cell, base::exactNumber); }

HeatmapData::HeatmapData(std::int64_t rows, std::int64_t samples)
    : m_rows(rows), m_samples(samples), m_cells(static_cast<std::size_t>(rows * samples), kPackedNotRun) {}

HeatmapData::HeatmapData(std::int64_t rows, std::int64_t samples, const std::vector<Cell>& cells) : HeatmapData(rows, samples) {
  for (std::size_t i = 0; i < std::min(m_cells.size(), cells.size()); ++i) {
    m_cells[i] = packed(cells[i]);
    setWholeBatch(i, cells[i].wholeBatch);
  }
}

void HeatmapData::setWholeBatch(std::size_t at, bool isWhole) {
  if (isWhole && m_wholeBatch.empty()) m_wholeBatch.resize(m_cells.size());
  if (!m_wholeBatch.empty()) m_wholeBatch[at] = isWhole;
}

Cell HeatmapData::at(std::int64_t row, std::int64_t sample) const {
  Cell cell = unpacked(m_cells[index(row, sample)]);
  cell.wholeBatch = isWholeBatch(row, sample);
  return cell;
}

void HeatmapData::set(std::int64_t row, std::int64_t sample, const Cell& cell) {
  m_cells[index(row, sample)] = packed(cell);
  setWholeBatch(index(row, sample), cell.wholeBatch);
}

void HeatmapData::takeWorse(std::int64_t row, std::int64_t sample, PackedCell cell, bool wholeBatch) {
  const std::size_t at = index(row, sample);
  if (cell <= m_cells[at]) return;
  m_cells[at] = cell;
  if (wholeBatch || hasWholeBatch()) setWholeBatch(at, wholeBatch);
}

std::vector<Cell> rowMaxima(const HeatmapData& data) {
  std::vector<Cell> maxima(static_cast<std::size_t>(data.rows()));
  if (data.samples() == 0) return maxima;
  for (std::int64_t row = 0; row < data.rows(); ++row)
    maxima[static_cast<std::size_t>(row)] = unpacked(*std::max_element(data.row(row), data.row(row) + data.samples()));
  return maxima;
}

std::vector<Cell> sampleMaxima(const HeatmapData& data) {
  std::vector<PackedCell> worst(static_cast<std::size_t>(data.samples()), kPackedNotRun);
  for (std::int64_t row = 0; row < data.rows(); ++row) {
    const PackedCell* cells = data.row(row);
    for (std::size_t i = 0; i < worst.size(); ++i) worst[i] = std::max(worst[i], cells[i]);
  }
  std::vector<Cell> maxima;
  for (const PackedCell cell : worst) maxima.push_back(unpacked(cell));
  return maxima;
}

Magnitudes magnitudesOf(const HeatmapData& data) {
  std::uint32_t smallest = kInfinity, largest = 0;
  bool hasInfinite = false;
  for (const PackedCell cell : data.cells()) {
    const std::uint32_t bits = (cell - kPackedFirstValue) >> 1;
    if (cell < kPackedFirstValue || bits == 0) continue;
    hasInfinite = hasInfinite || bits == kInfinity;
    if (bits >= kInfinity) continue;
    smallest = std::min(smallest, bits);
    largest = std::max(largest, bits);
  }
  if (largest == 0) return {0, 0, hasInfinite};
  return {std::bit_cast<float>(smallest), std::bit_cast<float>(largest), hasInfinite};
}

}  // namespace ulpscope::render
