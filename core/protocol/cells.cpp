#include "core/protocol/cells.h"

#include "core/base/base64.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ulpscope::protocol {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "cells travel as little-endian float32");

Error malformed(const std::string& why) { return Error{ErrorKind::internal, "is malformed: " + why, "a block of cells", ""}; }

json sitesJson(const std::vector<LiveSite>& sites) {
  json list = json::array();
  for (const LiveSite& site : sites) list.push_back({site.modulePath, site.op, site.occurrence});
  return list;
}

std::vector<LiveSite> sitesFrom(const json& list) {
  std::vector<LiveSite> sites;
  for (const json& site : list) sites.push_back({site.at(0), site.at(1), site.at(2)});
  return sites;
}

template <typename T>
Result<std::vector<T>> numbersFrom(const json& text) {
  auto bytes = base::fromBase64(text.get_ref<const std::string&>());
  if (!bytes) return bytes.error();
  if (bytes->size() % sizeof(T) != 0) return malformed("its bytes are no whole numbers");
  std::vector<T> numbers(bytes->size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes->data(), bytes->size());
  return numbers;
}

}  // namespace

json toJson(const LiveExperiment& experiment) { return {{"model", model::toJson(experiment.model)}, {"sample_ids", experiment.sampleIds}}; }

Result<LiveExperiment> experimentFromJson(const json& j) try {
  auto info = model::modelInfoFromJson(j.at("model"));
  if (!info) return info.error();
  return LiveExperiment{std::move(info).value(), j.at("sample_ids").get<std::vector<std::string>>()};
} catch (const json::exception& e) {
  return Error{ErrorKind::internal, std::string("is malformed: ") + e.what(), "an experiment", ""};
}

json toJson(const CellBlock& block) {
  json j{{"first_site", block.firstSite},
         {"samples", block.samples},
         {"rel_l2", base::toBase64(block.relL2.data(), block.relL2.size() * sizeof(float))},
         {"flags", base::toBase64(block.flags.data(), block.flags.size())}};
  if (block.sites) j["sites"] = sitesJson(*block.sites);
  return j;
}

Result<CellBlock> cellBlockFromJson(const json& j) try {
  CellBlock block;
  if (const auto sites = j.find("sites"); sites != j.end()) block.sites = sitesFrom(*sites);
  block.firstSite = j.at("first_site");
  block.samples = j.at("samples").get<std::vector<std::int64_t>>();
  auto values = numbersFrom<float>(j.at("rel_l2"));
  if (!values) return values.error();
  auto flags = numbersFrom<std::uint8_t>(j.at("flags"));
  if (!flags) return flags.error();
  block.relL2 = std::move(values).value();
  block.flags = std::move(flags).value();
  if (block.relL2.size() != block.flags.size()) return malformed("it has other numbers of values and of flags");
  if (block.samples.empty() ? !block.flags.empty() : block.flags.size() % block.samples.size() != 0) return malformed("its cells are no whole rows");
  if (block.firstSite < 0 || std::any_of(block.samples.begin(), block.samples.end(), [](std::int64_t s) { return s < 0; })) return malformed("a number is negative");
  return block;
} catch (const json::exception& e) {
  return malformed(e.what());
}

std::vector<CellBlock> splitRows(const CellBlock& block, std::int64_t mostCells) {
  const auto columns = static_cast<std::int64_t>(block.samples.size());
  const std::int64_t rowsEach = columns == 0 ? 1 : std::max<std::int64_t>(1, mostCells / columns);
  if (block.rows() <= rowsEach) return {block};
  std::vector<CellBlock> parts;
  for (std::int64_t row = 0; row < block.rows(); row += rowsEach) {
    const std::int64_t end = std::min(row + rowsEach, block.rows());
    CellBlock part;
    if (row == 0) part.sites = block.sites;
    part.firstSite = block.firstSite + row;
    part.samples = block.samples;
    part.relL2.assign(block.relL2.begin() + row * columns, block.relL2.begin() + end * columns);
    part.flags.assign(block.flags.begin() + row * columns, block.flags.begin() + end * columns);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace ulpscope::protocol
