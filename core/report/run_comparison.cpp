#include "core/report/run_comparison.h"

#include "core/base/number_text.h"
#include "core/report/run_changes.h"
#include "core/report/run_observed.h"
#include "core/report/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::report {
namespace {

using base::jsonNumber;
using base::shortNumber;
using nlohmann::json;
using session::RunRecord;

constexpr std::size_t kShownSites = 5;

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

// "s.ulps run_0002 'wo kept' (FP16, FP32: wo)"
std::string headOf(const ComparedRun& side) {
  const std::string name = side.session.runName(side.run.number);
  return fmt::format("{} {}{} ({})\n", side.path, side.run.id(), name.empty() ? "" : " '" + name + "'", session::runLabel(side.run));
}

json sideJson(const ComparedRun& side) {
  return {{"session", side.path}, {"run_id", side.run.id()}, {"label", session::runLabel(side.run)}, {"status", session::name(side.run.status)},
          {"verdict", verdictJson(side.session, side.run.verdict)}};
}

}  // namespace

std::string comparisonText(const ComparedRun& a, const ComparedRun& b, const std::vector<storage::ComparedCapture>& captures) {
  const RunChanges changes = changesBetween(a.run, b.run);
  std::string text = "A: " + headOf(a) + "B: " + headOf(b);
  if (!changes.policy.empty()) text += fmt::format("from A to B: {}\n", fmt::join(changes.policy, ", "));
  for (const ComparedRun* side : {&a, &b})
    if (side->run.verdict) text += fmt::format("verdict of {}: {}\n", side->run.id(), name(side->run.verdict->status));
  text += "\n" + partsText("NON-FINITE ORIGINS", changes.origins);
  if (a.run.settings.decision.decides() && b.run.settings.decision.decides())
    text += changes.flipsNotCompared.empty() ? "\n" + partsText("FLIPS", changes.flips) : "\nFLIPS\n  " + changes.flipsNotCompared + "\n";
  text += "\n" + outputsText(a.run, b.run) + "\n" + sitesText(changes.sites);
  const std::string stored = capturesText(captures);
  return stored.empty() ? text : text + "\n" + stored;
}

json comparisonDocument(const ComparedRun& a, const ComparedRun& b, const std::vector<storage::ComparedCapture>& captures) {
  const RunChanges found = changesBetween(a.run, b.run);
  const SiteChanges& changes = found.sites;
  const bool sameDecision = found.flipsNotCompared.empty() || (!a.run.settings.decision.decides() && !b.run.settings.decision.decides());
  json document = {{"schema", 1}, {"status", "ok"}, {"error", nullptr}, {"a", sideJson(a)}, {"b", sideJson(b)}, {"policy_changes", found.policy}};
  document["nonfinite_origins"] = partsJson(found.origins);
  document["flips"] = sameDecision ? partsJson(found.flips) : json(nullptr);
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
  for (const char* key : {"policy_changes", "outputs", "captured"}) document[key] = json::array();
  return document;
}

}  // namespace ulpscope::report
