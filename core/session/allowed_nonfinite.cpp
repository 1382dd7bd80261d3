#include "core/session/allowed_nonfinite.h"

#include "core/base/nearest_names.h"
#include "core/session/site_summary.h"

namespace ulpscope::session {
namespace {

// "name" after `prefix`, empty: the rule is of another kind.
std::string after(const std::string& prefix, const std::string& rule) { return rule.rfind(prefix, 0) == 0 ? rule.substr(prefix.size()) : ""; }

bool coversModule(const std::string& pattern, const std::string& path) {
  if (pattern == ".") return true;
  return base::globMatches(pattern, path) || base::globMatches(pattern + ".*", path);
}

// The part from `mark` on is taken off `text`; empty: there is none.
std::string cutFrom(std::string& text, char mark) {
  const auto at = text.rfind(mark);
  if (at == std::string::npos) return "";
  std::string tail = text.substr(at + 1);
  text.resize(at);
  return tail;
}

bool coversOp(const std::string& module, std::string op, const NamedSite& f) {
  const std::string occurrence = cutFrom(op, '#'), line = cutFrom(op, '@');
  const auto dot = op.find('.');
  const std::string overload = dot == std::string::npos ? "" : op.substr(dot + 1);
  const auto colon = f.source.rfind(':');
  return (module == "." ? f.modulePath.empty() : base::globMatches(module, f.modulePath)) && f.op == op.substr(0, dot) &&
         (overload.empty() || overload == f.overload) && (occurrence.empty() || occurrence == std::to_string(f.occurrence)) &&
         (line.empty() || (colon != std::string::npos && line == f.source.substr(colon + 1)));
}

}  // namespace

bool explains(const std::string& rule, const NonfiniteFinding& finding) {
  if (finding.stage == "input" || finding.stage == "parameter") {
    const std::string name = after(finding.stage + ":", rule);
    return !name.empty() && base::globMatches(name, finding.op);
  }
  if (!after("input:", rule).empty() || !after("parameter:", rule).empty()) return false;
  return coversSite(rule, {finding.modulePath, finding.op, finding.overload, finding.source, finding.occurrence});
}

bool coversSite(const std::string& given, const NamedSite& site) {
  const std::string pattern = patternOfLabel(given);
  const auto op = pattern.find(":aten::");
  return op == std::string::npos ? coversModule(pattern, site.modulePath) : coversOp(pattern.substr(0, op), pattern.substr(op + 1), site);
}

}  // namespace ulpscope::session
