#include "widgets/models/badge.h"

#include "core/base/number_text.h"
#include "core/model/model_info.h"
#include "widgets/models/text.h"

#include <cmath>

namespace ulpscope::models {

using session::Metric;

QString Badge::text() const {
  switch (kind) {
    case Kind::none: return QStringLiteral("–");
    case Kind::origin: return QStringLiteral("inf/NaN");
    case Kind::consequence: return QStringLiteral("from above");
    default: return qt(base::shortNumber(relL2));
  }
}

QString Badge::accessibleText() const {
  switch (kind) {
    case Kind::none: return QStringLiteral("nothing compared");
    case Kind::origin: return QStringLiteral("first non-finite values arise here");
    case Kind::consequence: return QStringLiteral("non-finite values from above");
    case Kind::withinTolerance: return QStringLiteral("worst relative L2 error %1, within tolerance").arg(text());
    default: return QStringLiteral("worst relative L2 error %1, %2 times the tolerance").arg(text(), qt(base::shortNumber(ratio)));
  }
}

Badge siteBadge(const session::SiteSummary& site, double tolerance) {
  Badge badge;
  badge.relL2 = site.values[Metric::relL2];
  badge.ratio = std::isnan(site.values[Metric::relL2]) ? 0 : site.values[Metric::relL2] / tolerance;
  if (site.role == session::NonfiniteRole::origin)
    badge.kind = Badge::Kind::origin;
  else if (site.role == session::NonfiniteRole::consequence)
    badge.kind = Badge::Kind::consequence;
  else if (!std::isnan(site.values[Metric::relL2]))
    badge.kind = badge.ratio <= 1 ? Badge::Kind::withinTolerance : badge.ratio <= kFarOver ? Badge::Kind::overTolerance : Badge::Kind::farOver;
  return badge;
}

std::map<std::string, Badge> moduleBadges(const session::RunRecord& run) {
  const double tolerance = session::siteTolerance(run.settings.autocast).rtol;
  std::map<std::string, Badge> badges;
  const auto merge = [&](const std::string& path, const Badge& badge) {
    const auto [at, isNew] = badges.try_emplace(path, badge);
    if (!isNew && at->second < badge) at->second = badge;
  };
  for (const session::SiteSummary& site : run.sites) {
    const Badge badge = siteBadge(site, tolerance);
    for (std::string path = site.modulePath; !path.empty(); path = model::parentPath(path)) merge(path, badge);
    merge({}, badge);
  }
  return badges;
}

}  // namespace ulpscope::models
