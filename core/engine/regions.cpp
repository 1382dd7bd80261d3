#include "core/engine/regions.h"

#include "core/base/nearest_names.h"
#include "core/session/site_summary.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace ulpscope::engine {
namespace {

using base::Error;
using base::ErrorKind;

int lineOf(const std::string& source) {
  const auto colon = source.rfind(':');
  return colon == std::string::npos ? -1 : std::atoi(source.c_str() + colon + 1);
}

std::string optionOf(RegionKind kind) { return kind == RegionKind::fp32 ? "--fp32 " : "--disable "; }

std::vector<std::string> modulePaths(const model::ModelInfo& model) {
  std::vector<std::string> paths;
  for (const auto& m : model.modules) {
    paths.push_back(m.path.empty() ? "." : m.path);
    paths.insert(paths.end(), m.aliases.begin(), m.aliases.end());
  }
  return paths;
}

}  // namespace

RegionSet::Pattern RegionSet::parse(RegionKind kind, const std::string& text) {
  Pattern pattern{kind, text, "", "", std::nullopt, std::nullopt};
  const auto op = text.find(":aten::");
  if (op == std::string::npos) {
    if (pattern.path == ".") pattern.path.clear();
    return pattern;
  }
  pattern.path = text.substr(0, op);
  if (pattern.path == ".") pattern.path.clear();
  std::string rest = text.substr(op + 1);
  if (const auto hash = rest.find('#'); hash != std::string::npos) {
    pattern.occurrence = std::atoi(rest.c_str() + hash + 1);
    rest.resize(hash);
  }
  if (const auto at = rest.find('@'); at != std::string::npos) {
    pattern.line = std::atoi(rest.c_str() + at + 1);
    rest.resize(at);
  }
  if (const auto dot = rest.find('.'); dot != std::string::npos) {
    pattern.overload = rest.substr(dot + 1);
    rest.resize(dot);
  }
  pattern.op = rest;
  return pattern;
}

bool RegionSet::matches(const Pattern& p, const OpName& op) {
  return !p.op.empty() && p.op == op.op && (p.overload.empty() || p.overload == op.overload) && base::globMatches(p.path, op.modulePath) &&
         (!p.line || *p.line == lineOf(op.source)) && (!p.occurrence || *p.occurrence == op.occurrence);
}

base::Result<RegionSet> RegionSet::make(const std::vector<std::string>& fp32, const std::vector<std::string>& disable,
                                        const model::ModelInfo& model, const std::vector<model::StaticOp>& ops) {
  RegionSet set;
  const std::vector<std::string> paths = modulePaths(model);
  const auto add = [&](RegionKind kind, const std::string& given) -> base::Status {
    const std::string text = session::patternOfLabel(given);
    Pattern pattern = parse(kind, text);
    if (pattern.op.empty()) {
      const std::string wanted = text == "." ? "." : text;
      const bool known = std::any_of(paths.begin(), paths.end(), [&](const std::string& p) { return base::globMatches(wanted, p); });
      if (!known)
        return Error{ErrorKind::usage, "matches no module of the model", optionOf(kind) + text,
                     "nearest: " + base::quotedChoice(base::nearestNames(text, paths))};
    } else {
      std::set<std::string> names;
      bool known = false;
      for (const auto& op : ops) {
        const OpName name{op.modulePath, op.op, op.overload, op.source, pattern.occurrence.value_or(1)};
        known = known || matches(pattern, name);
        names.insert((op.modulePath.empty() ? "." : op.modulePath) + ":" + op.op);
      }
      if (!known)
        return Error{ErrorKind::usage, "matches no op of the model", optionOf(kind) + text,
                     "nearest: " + base::quotedChoice(base::nearestNames(text, {names.begin(), names.end()}))};
    }
    set.m_patterns.push_back(std::move(pattern));
    return base::success();
  };
  for (const std::string& text : fp32)
    if (auto status = add(RegionKind::fp32, text); !status) return status.error();
  for (const std::string& text : disable)
    if (auto status = add(RegionKind::disable, text); !status) return status.error();
  // An alias of a shared module names the same module: patterns are matched against the canonical path too.
  for (const auto& m : model.modules)
    for (Pattern& p : set.m_patterns)
      if (p.op.empty() && std::find(m.aliases.begin(), m.aliases.end(), p.path) != m.aliases.end()) p.path = m.path;
  return set;
}

bool RegionSet::hasOpPatterns() const {
  return std::any_of(m_patterns.begin(), m_patterns.end(), [](const Pattern& p) { return !p.op.empty(); });
}

std::optional<RegionKind> RegionSet::matchesModule(const std::string& modulePath) const {
  std::optional<RegionKind> kind;
  for (const Pattern& p : m_patterns)
    if (p.op.empty() && (p.path.empty() ? modulePath.empty() : base::globMatches(p.path, modulePath)))
      kind = kind == RegionKind::fp32 ? kind : p.kind;
  return kind;
}

std::optional<RegionKind> RegionSet::matchesOp(const OpName& op) const {
  std::optional<RegionKind> kind;
  for (const Pattern& p : m_patterns)
    if (matches(p, op)) kind = kind == RegionKind::fp32 ? kind : p.kind;
  return kind;
}

}  // namespace ulpscope::engine
