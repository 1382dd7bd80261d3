// What an engine tells of a run that still goes on, for a view that fills meanwhile: PROTOCOL.md, "experiment" and "cells".
#pragma once

#include "core/base/error.h"
#include "core/model/model_info.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::protocol {

// Told once, before the first op runs.
struct LiveExperiment {
  model::ModelInfo model;
  std::vector<std::string> sampleIds;  // all samples of the inputs file, in its order
};

struct LiveSite {
  std::string modulePath, op;
  int occurrence = 1;
  friend bool operator==(const LiveSite&, const LiveSite&) = default;
};

// Relative L2 of some op sites at some samples. Row-major [sites x samples].
struct CellBlock {
  // All op sites met so far, in execution order, where they are others than before: earlier blocks are then void, and blocks that hold all
  // samples done so far follow, this one first.
  std::optional<std::vector<LiveSite>> sites;
  std::int64_t firstSite = 0;
  std::vector<std::int64_t> samples;  // numbers among LiveExperiment::sampleIds
  std::vector<float> relL2;           // NaN: not evaluated
  std::vector<std::uint8_t> flags;    // storage::CellFlag
  std::int64_t rows() const { return samples.empty() ? 0 : static_cast<std::int64_t>(flags.size() / samples.size()); }
};

nlohmann::json toJson(const LiveExperiment& experiment);
nlohmann::json toJson(const CellBlock& block);
// Error kind internal: a key is missing, of another type, or the sizes do not fit each other.
base::Result<LiveExperiment> experimentFromJson(const nlohmann::json& json);
base::Result<CellBlock> cellBlockFromJson(const nlohmann::json& json);

// Parts of at most `mostCells` cells each, by rows; only the first carries the sites.
std::vector<CellBlock> splitRows(const CellBlock& block, std::int64_t mostCells);

}  // namespace ulpscope::protocol
