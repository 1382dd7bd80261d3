#include "core/session/policy_changes.h"

#include <algorithm>

namespace ulpscope::session {
namespace {

using Changes = std::vector<std::string>;

bool contains(const std::vector<std::string>& list, const std::string& entry) { return std::find(list.begin(), list.end(), entry) != list.end(); }

// What came first, in the order of the newer list; then what went.
void addRegions(Changes& changes, const std::vector<std::string>& from, const std::vector<std::string>& to, const std::string& how) {
  const auto shown = [](const std::string& path) { return path == "." ? std::string("the whole model") : path; };
  for (const std::string& path : to)
    if (!contains(from, path)) changes.push_back("+ " + shown(path) + how);
  for (const std::string& path : from)
    if (!contains(to, path)) changes.push_back("- " + shown(path) + how);
}

void addWord(Changes& changes, const std::string& what, const std::string& from, const std::string& to) {
  if (from != to) changes.push_back((what.empty() ? "" : what + " ") + from + " -> " + to);
}

std::string lowName(const RunSettings& s) { return s.autocast == base::DType::bfloat16 ? "BF16" : "FP16"; }
std::string decisionOf(const RunSettings& s) {
  return s.decision.text() + (s.decisionOutput.empty() ? "" : " of '" + s.decisionOutput + "'") + (s.decision.decides() ? ", tie " + name(s.tie) : "");
}
std::string samplesOf(const RunSettings& s) {
  const std::size_t count = s.onlySamples.size();
  return count == 0 ? "all" : std::to_string(count) + " chosen";
}

}  // namespace

Changes policyChanges(const RunSettings& from, const RunSettings& to) {
  Changes changes;
  addRegions(changes, from.fp32, to.fp32, " in FP32");
  addRegions(changes, from.disable, to.disable, " with autocast off");
  addWord(changes, "", lowName(from), lowName(to));
  addWord(changes, "policy", from.policyTable, to.policyTable);
  addWord(changes, "mode", name(from.mode), name(to.mode));
  addWord(changes, "cast cache", from.castCache ? "on" : "off", to.castCache ? "on" : "off");
  addWord(changes, "accumulation", name(from.accumulate.value_or(Accumulate::strict)), name(to.accumulate.value_or(Accumulate::strict)));
  addWord(changes, "decision", decisionOf(from), decisionOf(to));
  addWord(changes, "samples", samplesOf(from), samplesOf(to));
  if (!from.onlySamples.empty() && from.onlySamples.size() == to.onlySamples.size() && from.onlySamples != to.onlySamples) changes.emplace_back("other samples");
  addWord(changes, "observed", name(from.observe), name(to.observe));
  return changes;
}

}  // namespace ulpscope::session
