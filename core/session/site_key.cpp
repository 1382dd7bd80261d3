#include "core/session/site_key.h"

#include <map>
#include <set>

namespace ulpscope::session {
namespace {

std::string withLine(const SiteSummary& site) {
  const auto colon = site.source.rfind(':');
  std::string label = siteLabel(site);
  if (colon == std::string::npos) return label;
  const auto end = site.occurrence > 1 ? label.rfind('#') : label.size();
  return label.insert(end, "@" + site.source.substr(colon + 1));
}

}  // namespace

SiteKey siteKey(const SiteSummary& site) { return {site.modulePath, site.op, site.overload, site.source, site.occurrence, site.output}; }

std::vector<std::string> siteNames(const RunRecord& run) {
  std::map<std::string, std::set<std::string>> sources;
  for (const SiteSummary& site : run.sites) sources[siteLabel(site)].insert(site.source);
  std::vector<std::string> names;
  for (const SiteSummary& site : run.sites)
    names.push_back((sources[siteLabel(site)].size() > 1 ? withLine(site) : siteLabel(site)) + (site.output > 0 ? ", output " + std::to_string(site.output) : ""));
  return names;
}

}  // namespace ulpscope::session
