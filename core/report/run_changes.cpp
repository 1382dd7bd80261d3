#include "core/report/run_changes.h"

#include "core/session/policy_changes.h"
#include "core/session/site_key.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace ulpscope::report {
namespace {

using session::CriterionResult;
using session::Metric;
using session::RunRecord;

Parted parted(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  Parted p;
  const std::set<std::string> inA(a.begin(), a.end()), inB(b.begin(), b.end());
  for (const std::string& name : a) (inB.count(name) ? p.kept : p.cured).push_back(name);
  for (const std::string& name : b)
    if (!inA.count(name)) p.made.push_back(name);
  return p;
}

std::vector<std::string> flipIds(const RunRecord& run) {
  std::vector<std::string> ids;
  for (const session::Flip& flip : run.flips) ids.push_back(flip.sampleId);
  return ids;
}

// "argmax of 'logits', tie first"
std::string decisionOf(const session::RunSettings& s) {
  return s.decision.text() + (s.decisionOutput.empty() ? "" : " of '" + s.decisionOutput + "'") + ", tie " + session::name(s.tie);
}

std::string whyFlipsDiffer(const session::RunSettings& a, const session::RunSettings& b) {
  if (!a.decision.decides() || !b.decision.decides()) return "not compared: " + std::string(a.decision.decides() ? "B" : "A") + " reads no decisions";
  return decisionOf(a) == decisionOf(b) ? "" : "not compared: decided by " + decisionOf(a) + " and by " + decisionOf(b);
}

std::vector<std::string> originNames(const RunRecord& run) {
  const std::vector<std::string> sites = session::siteNames(run);
  std::vector<std::string> names;
  for (const auto& f : run.nonfiniteOrigins)
    names.push_back(f.site >= 0 && static_cast<std::size_t>(f.site) < sites.size() ? sites[static_cast<std::size_t>(f.site)] : f.stage + " " + f.op);
  return names;
}

SiteChanges siteChanges(const RunRecord& a, const RunRecord& b) {
  std::map<session::SiteKey, double> before;
  for (const auto& site : a.sites) before.emplace(siteKey(site), site.values[Metric::relL2]);
  const std::vector<std::string> names = session::siteNames(b);
  SiteChanges found;
  for (std::size_t i = 0; i < b.sites.size(); ++i) {
    const auto was = before.find(siteKey(b.sites[i]));
    const double now = b.sites[i].values[Metric::relL2];
    if (was == before.end() || std::isnan(was->second) || std::isnan(now)) continue;
    ++(now < was->second ? found.better : now > was->second ? found.worse : found.equal);
    if (now != was->second) found.changes.push_back({names[i], was->second, now});
  }
  const auto factor = [](const SiteChange& c) { return c.a == 0 ? INFINITY : c.b / c.a; };
  std::stable_sort(found.changes.begin(), found.changes.end(), [&](const auto& x, const auto& y) { return factor(x) > factor(y); });
  return found;
}

std::optional<CriterionResult> resultOf(const RunRecord& run, const std::string& id) {
  if (!run.verdict) return std::nullopt;
  const auto found = std::find_if(run.verdict->criteria.begin(), run.verdict->criteria.end(), [&](const CriterionResult& c) { return c.id == id; });
  return found == run.verdict->criteria.end() ? std::nullopt : std::optional(*found);
}

std::vector<CriterionChange> criterionChanges(const RunRecord& a, const RunRecord& b) {
  std::vector<CriterionChange> changes;
  for (const RunRecord* run : {&a, &b}) {
    if (!run->verdict) continue;
    for (const CriterionResult& c : run->verdict->criteria) {
      const bool known = std::any_of(changes.begin(), changes.end(), [&](const CriterionChange& change) { return change.id == c.id; });
      if (!known) changes.push_back({c.id, resultOf(a, c.id), resultOf(b, c.id)});
    }
  }
  return changes;
}

}  // namespace

double worstRelL2(const RunRecord& run) {
  double worst = std::numeric_limits<double>::quiet_NaN();
  for (const session::SiteSummary& site : run.sites)
    if (const double value = site.values[Metric::relL2]; !std::isnan(value) && !(value <= worst)) worst = value;
  return worst;
}

RunChanges changesBetween(const RunRecord& a, const RunRecord& b) {
  RunChanges changes;
  changes.policy = session::policyChanges(a.settings, b.settings);
  changes.origins = parted(originNames(a), originNames(b));
  changes.flipsNotCompared = whyFlipsDiffer(a.settings, b.settings);
  if (changes.flipsNotCompared.empty()) {
    changes.flips = parted(flipIds(a), flipIds(b));
    changes.noDecision = parted(a.noDecision, b.noDecision);
  }
  changes.sites = siteChanges(a, b);
  changes.worstA = worstRelL2(a);
  changes.worstB = worstRelL2(b);
  changes.criteria = criterionChanges(a, b);
  return changes;
}

}  // namespace ulpscope::report
