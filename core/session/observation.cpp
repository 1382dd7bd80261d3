#include "core/session/observation.h"

#include "core/base/number_text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace ulpscope::session {
namespace {

using nlohmann::json;

json numberOrNull(double value) { return std::isnan(value) ? json(nullptr) : base::jsonNumber(value); }
double numberFrom(const json& value) { return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : base::numberFromJson(value); }

}  // namespace

json toJson(const std::vector<ModuleOutput>& outputs) {
  json list = json::array();
  for (const ModuleOutput& o : outputs)
    list.push_back({{"module", o.modulePath}, {"call", o.call}, {"name", o.name}, {"site", o.site}, {"part", o.part}});
  return list;
}

std::vector<ModuleOutput> moduleOutputsFromJson(const json& list) {
  std::vector<ModuleOutput> outputs;
  for (const json& o : list) outputs.push_back({o.at("module"), o.at("call"), o.at("name"), o.at("site"), o.at("part")});
  return outputs;
}

json toJson(const std::optional<NoiseFloor>& floor) {
  if (!floor) return nullptr;
  json outputs = json::array();
  for (const OutputFloor& o : floor->outputs)
    outputs.push_back({{"name", o.name}, {"max_abs", numberOrNull(o.maxAbs)}, {"rel_l2", numberOrNull(o.relL2)}});
  return {{"skipped", floor->skipped}, {"threads", floor->threads}, {"outputs", outputs}, {"flips", floor->flips}};
}

std::optional<NoiseFloor> noiseFloorFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  NoiseFloor floor;
  floor.skipped = j.at("skipped");
  floor.threads = j.at("threads");
  for (const json& o : j.at("outputs")) floor.outputs.push_back({o.at("name"), numberFrom(o.at("max_abs")), numberFrom(o.at("rel_l2"))});
  floor.flips = j.at("flips").get<std::vector<std::string>>();
  return floor;
}

json toJson(const std::optional<Accumulation>& a) {
  if (!a) return nullptr;
  json outputs = json::array();
  for (const AccumulationOutput& o : a->outputs)
    outputs.push_back({{"name", o.name}, {"rel_l2", numberOrNull(o.relL2)}, {"rel_l2_otherwise", numberOrNull(o.relL2Otherwise)},
                       {"max_abs", numberOrNull(o.maxAbs)}, {"max_abs_otherwise", numberOrNull(o.maxAbsOtherwise)}});
  return {{"outputs", outputs}, {"flips", a->flips}, {"flips_otherwise", a->flipsOtherwise}, {"depends", a->depends}};
}

std::optional<Accumulation> accumulationFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  Accumulation a;
  for (const json& o : j.at("outputs"))
    a.outputs.push_back({o.at("name"), numberFrom(o.at("rel_l2")), numberFrom(o.at("rel_l2_otherwise")), numberFrom(o.at("max_abs")), numberFrom(o.at("max_abs_otherwise"))});
  a.flips = j.at("flips");
  a.flipsOtherwise = j.at("flips_otherwise");
  a.depends = j.at("depends").get<std::vector<std::string>>();
  return a;
}

json toJson(const std::optional<Capture>& capture) {
  if (!capture) return nullptr;
  json sites = json::array(), leftOut = json::array();
  for (const CapturedSite& s : capture->sites) sites.push_back({{"site", s.site}, {"bytes", s.bytes}});
  for (const LeftOutSite& s : capture->leftOut) leftOut.push_back({{"site", s.site}, {"bytes", s.bytes}, {"why", s.why}});
  return {{"budget", capture->budget}, {"sites", sites}, {"left_out", leftOut}};
}

std::optional<Capture> captureFromJson(const json& j) {
  if (j.is_null()) return std::nullopt;
  Capture capture;
  capture.budget = j.at("budget");
  for (const json& s : j.at("sites")) capture.sites.push_back({s.at("site"), s.at("bytes")});
  for (const json& s : j.at("left_out")) capture.leftOut.push_back({s.at("site"), s.at("bytes"), s.at("why")});
  return capture;
}

}  // namespace ulpscope::session
