#include "core/render/heatmap.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

namespace ulpscope::render {
namespace {

// A NaN without a flag was never evaluated: it must not pass for a NaN of the model's.
PackedCell packedOf(std::uint8_t flags, float value) {
  constexpr std::uint8_t kSpecial = storage::kCellNan | storage::kCellPlusInf | storage::kCellMinusInf | storage::kCellNotRun;
  if ((flags & kSpecial) == 0) return packed({value == 0 ? CellKind::exactZero : CellKind::value, false, value});
  if (flags & storage::kCellNan) return kPackedNan;
  if (flags & storage::kCellPlusInf) return kPackedPlusInf;
  return flags & storage::kCellMinusInf ? kPackedMinusInf : kPackedNotRun;
}

// By path, aliases too.
std::unordered_map<std::string_view, std::string_view> moduleTypes(const session::Session& session) {
  std::unordered_map<std::string_view, std::string_view> types;
  for (const model::ModuleNode& node : session.model.modules) {
    types.try_emplace(node.path, node.typeName);
    for (const std::string& alias : node.aliases) types.try_emplace(alias, node.typeName);
  }
  return types;
}

std::string typeIn(const std::unordered_map<std::string_view, std::string_view>& types, const std::string& path) {
  const auto at = types.find(path);
  return at == types.end() ? std::string() : std::string(at->second);
}

std::string siteName(const session::SiteSummary& site, const std::string& modulePath) {
  std::string name = site.modulePath == modulePath ? "" : site.modulePath + ": ";
  name += site.op;
  if (!site.overload.empty()) name += "." + site.overload;
  if (site.occurrence > 1) name += "#" + std::to_string(site.occurrence);
  if (site.output > 0) name += ", output " + std::to_string(site.output + 1);
  return name;
}

std::vector<std::string> siteNames(const std::vector<std::int64_t>& sites, const session::RunRecord& run, const std::string& modulePath) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const std::int64_t site : sites) {
    names.push_back(siteName(run.sites[static_cast<std::size_t>(site)], modulePath));
    ++seen[names.back()];
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& source = run.sites[static_cast<std::size_t>(sites[i])].source;
    if (seen[names[i]] > 1 && !source.empty()) names[i] += " (" + source + ")";
  }
  return names;
}

Cell difference(const Cell& a, const Cell& b) {
  if (isNonfinite(b.kind) || b.kind == CellKind::notRun) return b;
  if (isNonfinite(a.kind)) return {CellKind::cured, b.wholeBatch, 0};
  if (a.kind == CellKind::notRun) return a;
  const float value = (b.kind == CellKind::value ? b.value : 0.F) - (a.kind == CellKind::value ? a.value : 0.F);
  return {value == 0 ? CellKind::exactZero : CellKind::value, a.wholeBatch || b.wholeBatch, value};
}

}  // namespace

std::vector<ModuleRow> moduleRows(const session::Session& session, const session::RunRecord& run) {
  std::vector<ModuleRow> rows;
  const auto types = moduleTypes(session);
  std::unordered_map<std::string, std::size_t> rowOf;
  for (std::size_t i = 0; i < run.sites.size(); ++i) {
    const std::string& path = run.sites[i].modulePath;
    const auto [at, isNew] = rowOf.try_emplace(path, rows.size());
    if (isNew) rows.push_back({path, typeIn(types, path), {}});
    rows[at->second].sites.push_back(static_cast<std::int64_t>(i));
  }
  return rows;
}

std::vector<ModuleRow> outputRows(const session::Session& session, const session::RunRecord& run) {
  std::vector<ModuleRow> rows;
  const auto types = moduleTypes(session);
  std::unordered_map<std::string, std::size_t> rowOf;
  for (const session::ModuleOutput& output : run.moduleOutputs) {
    const auto [at, isNew] = rowOf.try_emplace(output.modulePath, rows.size());
    if (isNew) rows.push_back({output.modulePath, typeIn(types, output.modulePath), {}});
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

std::vector<std::int64_t> sitesToUnfold(const ModuleRow& row, const session::RunRecord& run) {
  if (row.isOpSite()) return {};
  std::vector<std::int64_t> sites = row.sites;
  for (std::size_t i = 0; i < run.sites.size(); ++i)
    if (run.sites[i].modulePath == row.path) sites.push_back(static_cast<std::int64_t>(i));
  std::sort(sites.begin(), sites.end());
  sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
  return sites;
}

std::vector<ModuleRow> unfoldedRows(const std::vector<ModuleRow>& rows, const session::RunRecord& run, const std::vector<std::string>& unfolded) {
  std::vector<ModuleRow> result;
  for (const ModuleRow& row : rows) {
    result.push_back(row);
    if (!std::binary_search(unfolded.begin(), unfolded.end(), row.path)) continue;
    const std::vector<std::int64_t> sites = sitesToUnfold(row, run);
    if (sites.size() < 2) continue;
    const std::vector<std::string> names = siteNames(sites, run, row.path);
    for (std::size_t i = 0; i < sites.size(); ++i) result.push_back({row.path, row.typeName, {sites[i]}, names[i]});
  }
  return result;
}

HeatmapData moduleHeatmap(const std::vector<ModuleRow>& rows, const storage::RunMetrics& metrics, Metric metric) {
  const storage::MetricMatrix& matrix = metrics[metric];
  HeatmapData data(static_cast<std::int64_t>(rows.size()), metrics.samples());
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const std::int64_t site : rows[row].sites) {
      if (site >= matrix.sites) continue;
      const float* values = matrix.values.data() + site * matrix.samples;
      const std::uint8_t* flags = metrics.flags.data() + site * matrix.samples;
      for (std::int64_t sample = 0; sample < matrix.samples; ++sample)
        data.takeWorse(static_cast<std::int64_t>(row), sample, packedOf(flags[sample], values[sample]), (flags[sample] & storage::kCellWholeBatch) != 0);
    }
  return data;
}

std::int64_t worstSiteOf(const ModuleRow& row, const storage::RunMetrics& metrics, Metric metric, std::int64_t sample) {
  const storage::MetricMatrix& matrix = metrics[metric];
  std::int64_t worst = -1;
  PackedCell most = kPackedNotRun;
  for (const std::int64_t site : row.sites) {
    if (site >= matrix.sites) continue;
    const PackedCell cell = packedOf(metrics.flags[static_cast<std::size_t>(site * matrix.samples + sample)], matrix.at(site, sample));
    if (cell <= most) continue;
    most = cell;
    worst = site;
  }
  return worst;
}

std::vector<std::int64_t> sameRows(const std::vector<ModuleRow>& of, const std::vector<ModuleRow>& rows) {
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> at;
  for (std::size_t i = 0; i < rows.size(); ++i) at.try_emplace({rows[i].path, rows[i].opSite}, static_cast<std::int64_t>(i));
  std::vector<std::int64_t> result;
  for (const ModuleRow& row : of) {
    const auto found = at.find({row.path, row.opSite});
    result.push_back(found == at.end() ? -1 : found->second);
  }
  return result;
}

HeatmapData differenceHeatmap(const std::vector<ModuleRow>& rowsA, const HeatmapData& a,
                              const std::vector<ModuleRow>& rowsB, const HeatmapData& b) {
  const std::vector<std::int64_t> rowInA = sameRows(rowsB, rowsA);
  HeatmapData result(b.rows(), b.samples());
  for (std::int64_t row = 0; row < b.rows(); ++row) {
    const std::int64_t other = rowInA[static_cast<std::size_t>(row)];
    if (other < 0) continue;
    for (std::int64_t sample = 0; sample < std::min(a.samples(), b.samples()); ++sample)
      result.set(row, sample, difference(a.at(other, sample), b.at(row, sample)));
  }
  return result;
}

// One tiny value would make all others alike; what lies below the range is drawn as its end.
constexpr double kDecades = 1e-6;

ColorRange automaticRange(const Magnitudes& magnitudes, Scale scale) {
  ColorRange range;
  range.scale = scale;
  if (magnitudes.largest == 0) return range;
  const double decade = std::pow(10, std::floor(std::log10(magnitudes.largest)));
  if (scale == Scale::linear) {
    for (const double step : {1.0, 2.0, 5.0, 10.0})
      if (magnitudes.largest <= step * decade * (1 + 1e-7)) return {0, step * decade, scale};
  }
  range.high = std::pow(10, std::ceil(std::log10(magnitudes.largest)));
  range.low = std::max(std::pow(10, std::floor(std::log10(magnitudes.smallest))), range.high * kDecades);
  if (range.high <= range.low) range.high = range.low * 10;
  return range;
}

}  // namespace ulpscope::render
