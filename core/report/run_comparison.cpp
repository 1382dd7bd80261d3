#include "core/report/run_comparison.h"

#include "core/base/number_text.h"
#include "core/report/run_observed.h"
#include "core/report/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ulpscope::report {
namespace {

using base::counted;
using base::jsonNumber;
using base::shortNumber;
using nlohmann::json;
using session::Metric;
using session::RunRecord;

constexpr std::size_t kShownSites = 5;

// Of two sets of names: those of A alone, of B alone, of both; in the order of A, then of B.
struct Parted {
  std::vector<std::string> cured, made, kept;
};

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
bool sameDecision(const session::RunSettings& a, const session::RunSettings& b) { return decisionOf(a) == decisionOf(b); }

std::vector<std::string> originNames(const RunRecord& run) {
  std::vector<std::string> names;
  for (const auto& f : run.nonfiniteOrigins)
    names.push_back(f.site >= 0 && static_cast<std::size_t>(f.site) < run.sites.size() ? siteLabel(run.sites[static_cast<std::size_t>(f.site)]) : f.stage + " " + f.op);
  return names;
}

struct SiteChange {
  std::string site;
  double a = 0, b = 0;
};

// Sites that both runs have, and how wrong each is; worse first.
struct SiteChanges {
  std::int64_t better = 0, worse = 0, equal = 0;
  std::vector<SiteChange> changes;  // by the factor, the largest worsening first
};

SiteChanges siteChanges(const RunRecord& a, const RunRecord& b) {
  std::map<std::string, double> before;
  for (const auto& site : a.sites) before.emplace(siteLabel(site), site.values[Metric::relL2]);
  SiteChanges found;
  for (const auto& site : b.sites) {
    const auto was = before.find(siteLabel(site));
    const double now = site.values[Metric::relL2];
    if (was == before.end() || std::isnan(was->second) || std::isnan(now)) continue;
    ++(now < was->second ? found.better : now > was->second ? found.worse : found.equal);
    if (now != was->second) found.changes.push_back({siteLabel(site), was->second, now});
  }
  const auto factor = [](const SiteChange& c) { return c.a == 0 ? INFINITY : c.b / c.a; };
  std::stable_sort(found.changes.begin(), found.changes.end(), [&](const auto& x, const auto& y) { return factor(x) > factor(y); });
  return found;
}

std::string partsText(const std::string& title, const Parted& p) {
  std::string text = title + "\n";
  text += fmt::format("  cured {}, made {}, in both {}\n", p.cured.size(), p.made.size(), p.kept.size());
  if (!p.cured.empty()) text += "  cured: " + listed(p.cured) + "\n";
  if (!p.made.empty()) text += "  made: " + listed(p.made) + "\n";
  if (!p.kept.empty()) text += "  in both: " + listed(p.kept) + "\n";
  return text;
}

const session::OutputSummary* outputOf(const RunRecord& run, const std::string& name) {
  const auto found = std::find_if(run.outputs.begin(), run.outputs.end(), [&](const auto& o) { return o.name == name; });
  return found == run.outputs.end() ? nullptr : &*found;
}

std::string outputsText(const RunRecord& a, const RunRecord& b) {
  std::string text = "OUTPUTS (relative L2 to FP32)\n";
  for (const auto& was : a.outputs)
    if (const auto* now = outputOf(b, was.name); now && was.relL2 && now->relL2)
      text += fmt::format("  {}: {} -> {}\n", was.name, shortNumber(*was.relL2), shortNumber(*now->relL2));
  return text;
}

std::string sitesText(const SiteChanges& changes) {
  std::string text = fmt::format("OP SITES (worst relative L2)\n  better {}, worse {}, equal {}\n", changes.better, changes.worse, changes.equal);
  const auto row = [](const SiteChange& c) { return fmt::format("  {:>9} -> {:>9}  {}\n", shortNumber(c.a), shortNumber(c.b), c.site); };
  const auto& all = changes.changes;
  const std::size_t worse = std::min<std::size_t>(static_cast<std::size_t>(changes.worse), kShownSites), better = std::min<std::size_t>(static_cast<std::size_t>(changes.better), kShownSites);
  for (std::size_t i = 0; i < worse; ++i) text += row(all[i]);
  for (std::size_t i = 0; i < better; ++i) text += row(all[all.size() - 1 - i]);
  return text;
}

std::string capturesText(const std::vector<storage::ComparedCapture>& captures) {
  if (captures.empty()) return "";
  std::string text = "CAPTURED (candidate of A against candidate of B)\n";
  for (const storage::ComparedCapture& c : captures)
    text += c.note.empty() ? fmt::format("  {:>9} {:>9}  {}{}\n", shortNumber(c.relL2), shortNumber(c.maxAbs), c.site, c.identical ? " (bit-identical)" : "")
                           : fmt::format("  {}: {}\n", c.site, c.note);
  return text;
}

json partsJson(const Parted& p) { return {{"cured", p.cured}, {"made", p.made}, {"kept", p.kept}}; }

json sideJson(const ComparedRun& side) {
  return {{"session", side.path}, {"run_id", side.run.id()}, {"label", session::runLabel(side.run)}, {"status", session::name(side.run.status)},
          {"verdict", verdictJson(side.session, side.run.verdict)}};
}

}  // namespace

std::string comparisonText(const ComparedRun& a, const ComparedRun& b, const std::vector<storage::ComparedCapture>& captures) {
  std::string text = fmt::format("A: {} {} ({})\nB: {} {} ({})\n", a.path, a.run.id(), session::runLabel(a.run), b.path, b.run.id(), session::runLabel(b.run));
  for (const ComparedRun* side : {&a, &b})
    if (side->run.verdict) text += fmt::format("verdict of {}: {}\n", side->run.id(), name(side->run.verdict->status));
  text += "\n" + partsText("NON-FINITE ORIGINS", parted(originNames(a.run), originNames(b.run)));
  if (a.run.settings.decision.decides() && b.run.settings.decision.decides()) {
    text += sameDecision(a.run.settings, b.run.settings) ? "\n" + partsText("FLIPS", parted(flipIds(a.run), flipIds(b.run)))
                 : fmt::format("\nFLIPS\n  not compared: decided by {} and by {}\n", decisionOf(a.run.settings), decisionOf(b.run.settings));
  }
  text += "\n" + outputsText(a.run, b.run) + "\n" + sitesText(siteChanges(a.run, b.run));
  const std::string stored = capturesText(captures);
  return stored.empty() ? text : text + "\n" + stored;
}

json comparisonDocument(const ComparedRun& a, const ComparedRun& b, const std::vector<storage::ComparedCapture>& captures) {
  const SiteChanges changes = siteChanges(a.run, b.run);
  json document = {{"schema", 1}, {"status", "ok"}, {"error", nullptr}, {"a", sideJson(a)}, {"b", sideJson(b)}};
  document["nonfinite_origins"] = partsJson(parted(originNames(a.run), originNames(b.run)));
  document["flips"] = sameDecision(a.run.settings, b.run.settings) ? partsJson(parted(flipIds(a.run), flipIds(b.run))) : json(nullptr);
  document["sites"] = {{"better", changes.better}, {"worse", changes.worse}, {"equal", changes.equal}, {"changes", json::array()}};
  for (const SiteChange& c : changes.changes) document["sites"]["changes"].push_back({{"site", c.site}, {"a", jsonNumber(c.a)}, {"b", jsonNumber(c.b)}});
  document["outputs"] = json::array();
  for (const auto& was : a.run.outputs)
    if (const auto* now = outputOf(b.run, was.name))
      document["outputs"].push_back({{"name", was.name}, {"a_rel_l2", was.relL2 ? jsonNumber(*was.relL2) : json(nullptr)}, {"b_rel_l2", now->relL2 ? jsonNumber(*now->relL2) : json(nullptr)}});
  document["captured"] = json::array();
  for (const storage::ComparedCapture& c : captures)
    document["captured"].push_back({{"site", c.site}, {"max_abs", jsonNumber(c.maxAbs)}, {"rel_l2", jsonNumber(c.relL2)}, {"identical", c.identical}, {"note", c.note.empty() ? json(nullptr) : json(c.note)}});
  return document;
}

json comparisonErrorDocument(const base::Error& error) {
  json document = {{"schema", 1}, {"status", error.kind == base::ErrorKind::cancelled ? "cancelled" : "error"}, {"error", base::toJson(error)}};
  for (const char* key : {"a", "b", "nonfinite_origins", "flips", "sites"}) document[key] = nullptr;
  for (const char* key : {"outputs", "captured"}) document[key] = json::array();
  return document;
}

}  // namespace ulpscope::report
