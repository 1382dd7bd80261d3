#include "core/session/site_operands.h"

#include <nlohmann/json.hpp>

namespace ulpscope::session {
namespace {

using base::DType;
using nlohmann::json;
using From = SiteOperand::From;

json toJson(const std::optional<DType>& dtype) { return dtype ? json(base::name(*dtype)) : json(nullptr); }

// False: an unknown word.
bool readDtype(const json& j, std::optional<DType>& into) {
  if (j.is_null()) return true;
  into = base::dtypeFromName(j.get_ref<const std::string&>());
  return into.has_value();
}

json toJson(const SiteOperand& o) {
  const auto row = [&](const char* from, json where) { return json::array({o.name, toJson(o.referenceDtype), toJson(o.candidateDtype), toJson(o.castTo), from, std::move(where)}); };
  switch (o.from) {
    case From::site: return row("site", o.site);
    case From::parameter: return row("parameter", o.origin);
    case From::input: return row("input", o.origin);
    case From::unknown: break;
  }
  return row("unknown", nullptr);
}

bool readFrom(const json& row, SiteOperand& operand) {
  const std::string& from = row.at(4).get_ref<const std::string&>();
  const json& where = row.at(5);
  if (from == "unknown") return true;
  operand.from = from == "site" ? From::site : from == "parameter" ? From::parameter : From::input;
  if (operand.from == From::site)
    operand.site = where.get<std::int64_t>();
  else
    operand.origin = where.get<std::string>();
  return operand.from != From::input || from == "input";
}

}  // namespace

json toJson(const SiteOperands& operands) {
  json listed = json::array();
  for (const SiteOperand& operand : operands.listed) listed.push_back(toJson(operand));
  return {{"count", operands.count}, {"listed", std::move(listed)}};
}

std::optional<SiteOperands> operandsFromJson(const json& j) {
  SiteOperands operands;
  operands.count = j.at("count").get<std::int64_t>();
  for (const json& row : j.at("listed")) {
    SiteOperand& o = operands.listed.emplace_back();
    o.name = row.at(0).get<std::string>();
    if (!readDtype(row.at(1), o.referenceDtype) || !readDtype(row.at(2), o.candidateDtype) || !readDtype(row.at(3), o.castTo) || !readFrom(row, o)) return std::nullopt;
  }
  return operands;
}

}  // namespace ulpscope::session
