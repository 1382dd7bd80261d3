#include "core/report/audit_text.h"

#include "core/base/number_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ulpscope::report {
namespace {

using analysis::AuditFinding;
using analysis::LedgerAudit;
using analysis::StateAudit;
using base::counted;
using nlohmann::json;

constexpr std::size_t kMostSettings = 8;

std::string row(const std::string& title, const std::string& text) { return text.empty() ? "" : fmt::format("{:<14} {}\n", title, text); }

template <typename T, typename TextOf>
std::string joined(const std::vector<T>& items, const TextOf& textOf) {
  std::string text;
  for (const T& item : items) {
    const std::string one = textOf(item);
    if (!one.empty()) text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

std::string comparedText(const LedgerAudit& audit) {
  std::string text = fmt::format("{}, {} to {}", counted(audit.steps, "step"), audit.firstStep, audit.lastStep);
  if (audit.resumedAt) text += fmt::format("; resumed after {}", counted(*audit.resumedAt, "step"));
  if (audit.onlyUninterrupted > 0) text += fmt::format("; the resumed record lacks {} between", counted(audit.onlyUninterrupted, "step"));
  if (audit.onlyResumed > 0) text += fmt::format("; the uninterrupted record lacks {} between", counted(audit.onlyResumed, "step"));
  return text;
}

std::string firstText(const AuditFinding& first) {
  const std::string where = first.optimizer.empty() ? "" : " of " + first.optimizer;
  return fmt::format("step {}: {}{}: {} instead of {}: {}", first.step, session::name(first.state), where, first.resumed, first.uninterrupted, first.meaning);
}

std::string standingOf(const StateAudit& state) {
  if (state.compared == 0) return "not recorded";
  return state.different > 0 ? "differs" : "equal";
}

std::string largestText(const StateAudit& state) {
  return state.largest > 0 ? fmt::format("{} by {} (step {})", session::name(state.state), base::shortNumber(state.largest), state.largestStep) : "";
}

std::string equalText(const StateAudit& state) { return standingOf(state) == "equal" ? session::name(state.state) : ""; }

std::string unrecordedText(const StateAudit& state) {
  if (state.compared > 0) return "";
  if (state.inUninterrupted == state.inResumed) return session::name(state.state);
  return session::name(state.state) + (state.inResumed ? " (uninterrupted)" : " (resumed)");
}

std::string settingsText(const LedgerAudit& audit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(audit.settings.size(), kMostSettings); ++i)
    text += row(i == 0 ? "Settings" : "", fmt::format("{}: {} instead of {}", audit.settings[i].key, audit.settings[i].resumed, audit.settings[i].uninterrupted));
  if (audit.settings.size() > kMostSettings) text += row("", fmt::format("... and {} more", audit.settings.size() - kMostSettings));
  return text;
}

json firstJson(const LedgerAudit& audit) {
  if (!audit.first) return nullptr;
  const AuditFinding& f = *audit.first;
  json further = json::array();
  for (const auto state : f.further) further.push_back(session::name(state));
  return {{"step", f.step}, {"optimizer", f.optimizer}, {"state", session::name(f.state)}, {"uninterrupted", f.uninterrupted}, {"resumed", f.resumed}, {"meaning", f.meaning}, {"further", further}};
}

json stateJson(const StateAudit& s) {
  return {{"state", session::name(s.state)}, {"standing", standingOf(s)}, {"compared", s.compared}, {"different", s.different}, {"first_step", s.firstStep ? json(*s.firstStep) : json()},
          {"largest", base::jsonNumber(s.largest)}, {"largest_step", s.largest > 0 ? json(s.largestStep) : json()}};
}

}  // namespace

std::string auditText(const LedgerAudit& audit) {
  std::string text = row("Compared", comparedText(audit));
  text += audit.first ? row("FIRST", firstText(*audit.first)) : row("Same", "no recorded state differs in any bit");
  if (audit.first) text += row("Also there", joined(audit.first->further, [](session::LedgerState state) { return session::name(state); }));
  text += row("Largest", joined(audit.states, largestText));
  text += settingsText(audit);
  text += row("Optimizers", joined(audit.unmatchedOptimizers, [](const std::string& name) { return "'" + name + "'"; }) + (audit.unmatchedOptimizers.empty() ? "" : ": in one record only, not compared"));
  text += row("Equal", joined(audit.states, equalText));
  text += row("Not recorded", joined(audit.states, unrecordedText));
  if (audit.bothBeginAtZero && audit.first) text += row("Note", "both records begin at step 0: where the resumed run counts from its resume, let it count from the training's first step");
  return text;
}

json auditDocument(const LedgerAudit& audit) {
  json states = json::array(), settings = json::array();
  for (const StateAudit& state : audit.states) states.push_back(stateJson(state));
  for (const auto& s : audit.settings) settings.push_back({{"key", s.key}, {"uninterrupted", s.uninterrupted}, {"resumed", s.resumed}});
  return {{"schema", 1},
          {"compared", {{"first_step", audit.firstStep}, {"last_step", audit.lastStep}, {"steps", audit.steps}, {"only_uninterrupted", audit.onlyUninterrupted}, {"only_resumed", audit.onlyResumed}}},
          {"resumed_at", audit.resumedAt ? json(*audit.resumedAt) : json()},
          {"first", firstJson(audit)},
          {"states", states},
          {"settings", settings},
          {"unmatched_optimizers", audit.unmatchedOptimizers}};
}

}  // namespace ulpscope::report
