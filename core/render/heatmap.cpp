#include "core/render/heatmap.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace ulpscope::render {
namespace {

int severity(CellKind kind) {
  switch (kind) {
    case CellKind::notRun: return 0;
    case CellKind::exactZero: return 1;
    case CellKind::value: return 2;
    case CellKind::cured: return 3;
    case CellKind::minusInf: return 4;
    case CellKind::plusInf: return 5;
    case CellKind::nan: return 6;
  }
  return 0;
}

CellKind kindOf(std::uint8_t flags, float value) {
  if (flags & storage::kCellNan) return CellKind::nan;
  if (flags & storage::kCellPlusInf) return CellKind::plusInf;
  if (flags & storage::kCellMinusInf) return CellKind::minusInf;
  // A NaN without a flag was never evaluated: it must not pass for a NaN of the model's.
  if ((flags & storage::kCellNotRun) || std::isnan(value)) return CellKind::notRun;
  return value == 0 ? CellKind::exactZero : CellKind::value;
}

std::string typeOf(const session::Session& session, const std::string& path) {
  for (const model::ModuleNode& node : session.model.modules) {
    if (node.path == path) return node.typeName;
    if (std::find(node.aliases.begin(), node.aliases.end(), path) != node.aliases.end()) return node.typeName;
  }
  return {};
}

Cell difference(const Cell& a, const Cell& b) {
  if (isNonfinite(b.kind) || b.kind == CellKind::notRun) return b;
  if (isNonfinite(a.kind)) return {CellKind::cured, b.wholeBatch, 0};
  if (a.kind == CellKind::notRun) return a;
  const float value = (b.kind == CellKind::value ? b.value : 0.F) - (a.kind == CellKind::value ? a.value : 0.F);
  return {value == 0 ? CellKind::exactZero : CellKind::value, a.wholeBatch || b.wholeBatch, value};
}

}  // namespace

bool isNonfinite(CellKind kind) {
  return kind == CellKind::nan || kind == CellKind::plusInf || kind == CellKind::minusInf;
}

std::vector<ModuleRow> moduleRows(const session::Session& session, const session::RunRecord& run) {
  std::vector<ModuleRow> rows;
  std::map<std::string, std::size_t> rowOf;
  for (std::size_t i = 0; i < run.sites.size(); ++i) {
    const std::string& path = run.sites[i].modulePath;
    const auto [at, isNew] = rowOf.try_emplace(path, rows.size());
    if (isNew) rows.push_back({path, typeOf(session, path), {}});
    rows[at->second].sites.push_back(static_cast<std::int64_t>(i));
  }
  return rows;
}

std::vector<ModuleRow> outputRows(const session::Session& session, const session::RunRecord& run) {
  std::vector<ModuleRow> rows;
  std::map<std::string, std::size_t> rowOf;
  for (const session::ModuleOutput& output : run.moduleOutputs) {
    const auto [at, isNew] = rowOf.try_emplace(output.modulePath, rows.size());
    if (isNew) rows.push_back({output.modulePath, typeOf(session, output.modulePath), {}});
    std::vector<std::int64_t>& sites = rows[at->second].sites;
    if (std::find(sites.begin(), sites.end(), output.site) == sites.end()) sites.push_back(output.site);
  }
  return rows;
}

std::vector<Metric> heatmapMetrics() {
  return {Metric::relL2,  Metric::maxAbs,          Metric::introducedRelL2, Metric::inheritedRelL2,    Metric::meanAbs,
          Metric::maxRel, Metric::cosineDistance,  Metric::maxUlp,          Metric::shareOverTolerance, Metric::shareFlushed,
          Metric::referenceMaxAbs, Metric::candidateMaxAbs};
}

HeatmapData moduleHeatmap(const std::vector<ModuleRow>& rows, const storage::RunMetrics& metrics, Metric metric) {
  const storage::MetricMatrix& matrix = metrics[metric];
  HeatmapData data{static_cast<std::int64_t>(rows.size()), metrics.samples(), {}};
  data.cells.resize(rows.size() * static_cast<std::size_t>(data.samples));
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const std::int64_t site : rows[row].sites) {
      if (site >= matrix.sites) continue;
      for (std::int64_t sample = 0; sample < matrix.samples; ++sample) {
        const float value = matrix.at(site, sample);
        const std::uint8_t flags = metrics.flags[static_cast<std::size_t>(site * matrix.samples + sample)];
        Cell& cell = data.cells[row * static_cast<std::size_t>(matrix.samples) + static_cast<std::size_t>(sample)];
        cell = worse(cell, {kindOf(flags, value), (flags & storage::kCellWholeBatch) != 0, value});
      }
    }
  return data;
}

HeatmapData differenceHeatmap(const std::vector<ModuleRow>& rowsA, const HeatmapData& a,
                              const std::vector<ModuleRow>& rowsB, const HeatmapData& b) {
  std::map<std::string, std::int64_t> rowOfA;
  for (std::size_t i = 0; i < rowsA.size(); ++i) rowOfA[rowsA[i].path] = static_cast<std::int64_t>(i);
  HeatmapData result{b.rows, b.samples, {}};
  result.cells.resize(b.cells.size());
  for (std::int64_t row = 0; row < b.rows; ++row) {
    const auto in = rowOfA.find(rowsB[static_cast<std::size_t>(row)].path);
    if (in == rowOfA.end()) continue;
    for (std::int64_t sample = 0; sample < std::min(a.samples, b.samples); ++sample)
      result.cells[static_cast<std::size_t>(row * b.samples + sample)] = difference(a.at(in->second, sample), b.at(row, sample));
  }
  return result;
}

Cell worse(const Cell& a, const Cell& b) {
  const int rankA = severity(a.kind);
  const int rankB = severity(b.kind);
  Cell result = rankB > rankA ? b : a;
  if (rankA == rankB && a.kind == CellKind::value && std::fabs(b.value) > std::fabs(a.value)) result = b;
  return result;
}

std::vector<Cell> rowMaxima(const HeatmapData& data) {
  std::vector<Cell> maxima(static_cast<std::size_t>(data.rows));
  for (std::int64_t row = 0; row < data.rows; ++row)
    for (std::int64_t sample = 0; sample < data.samples; ++sample) {
      Cell& cell = maxima[static_cast<std::size_t>(row)];
      cell = worse(cell, data.at(row, sample));
    }
  return maxima;
}

std::string cellText(const Cell& cell) {
  switch (cell.kind) {
    case CellKind::value: return base::shortNumber(cell.value);
    case CellKind::exactZero: return "0 (exact)";
    case CellKind::nan: return "NaN";
    case CellKind::plusInf: return "+inf";
    case CellKind::minusInf: return "-inf";
    case CellKind::notRun: return "not run";
    case CellKind::cured: return "finite again";
  }
  return {};
}

std::vector<std::int64_t> sampleColumns(const session::RunRecord& run, std::int64_t samples, SampleOrder order) {
  std::vector<std::int64_t> columns(static_cast<std::size_t>(samples));
  std::iota(columns.begin(), columns.end(), 0);
  if (order == SampleOrder::asGiven || run.decisions.size() < columns.size()) return columns;
  // A sample without a decision has no margin (NaN): it goes last, and never into the comparison.
  const auto firstWithout = std::stable_partition(columns.begin(), columns.end(), [&](std::int64_t s) {
    return !std::isnan(run.decisions[static_cast<std::size_t>(s)].referenceMargin);
  });
  std::stable_sort(columns.begin(), firstWithout, [&](std::int64_t a, std::int64_t b) {
    return run.decisions[static_cast<std::size_t>(a)].referenceMargin < run.decisions[static_cast<std::size_t>(b)].referenceMargin;
  });
  return columns;
}

ColorRange automaticRange(const HeatmapData& data) {
  double low = HUGE_VAL;
  double high = 0;
  for (const Cell& cell : data.cells) {
    const double magnitude = std::fabs(static_cast<double>(cell.value));
    if (cell.kind != CellKind::value || !std::isfinite(magnitude)) continue;
    low = std::min(low, magnitude);
    high = std::max(high, magnitude);
  }
  if (high == 0) return {};
  ColorRange range{std::pow(10, std::floor(std::log10(low))), std::pow(10, std::ceil(std::log10(high)))};
  if (range.high <= range.low) range.high = range.low * 10;
  return range;
}

ColorRange commonRange(const ColorRange& a, const ColorRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace ulpscope::render
