// From a run's numbers to the matrix that the heatmap shows: its rows (modules, and their op sites where unfolded) and cells.
#pragma once

#include "core/render/colors.h"
#include "core/render/heatmap_data.h"
#include "core/session/session.h"
#include "core/storage/session_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::render {

using session::Metric;
// Those of which larger is worse: a map pools by maximum.
std::vector<Metric> heatmapMetrics();

// A module, or below one that is unfolded one of its op sites.
struct ModuleRow {
  std::string path;
  std::string typeName;
  std::vector<std::int64_t> sites;  // indices into RunRecord::sites
  std::string opSite = {};          // "aten::linear#2": a row of that op site alone; empty: a module's row
  bool isOpSite() const { return !opSite.empty(); }
};
// One row a module that has op sites of its own, in execution order.
std::vector<ModuleRow> moduleRows(const session::Session& session, const session::RunRecord& run);
// One row a module that returned what an op made, containers too, in the order in which they first returned; its sites are those
// that made its outputs. Empty for a run that recorded none.
std::vector<ModuleRow> outputRows(const session::Session& session, const session::RunRecord& run);

// The op sites that a module's row unfolds into, in execution order: the module's own and those that the row is made of.
// Fewer than two: there is nothing to unfold.
std::vector<std::int64_t> sitesToUnfold(const ModuleRow& row, const session::RunRecord& run);
// With a row for each op site below those of `rows` whose path is in `unfolded` (sorted). Sites of one op in one module are told
// apart by occurrence, and by source line where that is not enough; a site of another module carries that module's path.
std::vector<ModuleRow> unfoldedRows(const std::vector<ModuleRow>& rows, const session::RunRecord& run, const std::vector<std::string>& unfolded);

// The worst of a row's sites, cell by cell. A metric that the run did not compute is "not run" everywhere.
HeatmapData moduleHeatmap(const std::vector<ModuleRow>& rows, const storage::RunMetrics& metrics, Metric metric);
// The site among the row's whose cell is the worst for that sample, the first of equals; -1: none was evaluated.
std::int64_t worstSiteOf(const ModuleRow& row, const storage::RunMetrics& metrics, Metric metric, std::int64_t sample);

// B - A cell by cell, over the rows of B; a row that A does not have is "not run". Where B is non-finite its kind stands.
HeatmapData differenceHeatmap(const std::vector<ModuleRow>& rowsA, const HeatmapData& a,
                              const std::vector<ModuleRow>& rowsB, const HeatmapData& b);
// Index of the row of `rows` that stands for the same module or op site; -1: none.
std::vector<std::int64_t> sameRows(const std::vector<ModuleRow>& of, const std::vector<ModuleRow>& rows);

// Logarithmic: the decades that hold the finite non-zero values, the six highest at most. Linear: up to 1, 2 or 5 times a power of ten. Without such
// values 1e-6..1e-1.
ColorRange automaticRange(const Magnitudes& magnitudes, Scale scale = Scale::logarithmic);
inline ColorRange automaticRange(const HeatmapData& data, Scale scale = Scale::logarithmic) { return automaticRange(magnitudesOf(data), scale); }

}  // namespace ulpscope::render
