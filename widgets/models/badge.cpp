#include "widgets/models/badge.h"

#include "core/base/number_text.h"
#include "core/model/model_info.h"
#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::models {

using session::Metric;

QString Badge::text() const {
  switch (kind) {
    case Kind::none: return QStringLiteral("–");
    case Kind::origin: return QStringLiteral("inf/NaN");
    case Kind::consequence: return QStringLiteral("from above");
    default: return std::isinf(relL2) ? QStringLiteral("FP32 is 0") : qt(base::shortNumber(relL2));  // no infinity of the model's
  }
}

double Badge::ratioToSort() const {
  if (kind >= Kind::consequence) return std::numeric_limits<double>::infinity();
  return std::isnan(largestRatio) ? -1 : largestRatio;
}

QString Badge::ratioText() const { return ratioToSort() < 0 ? QStringLiteral("–") : qt(base::shortNumber(ratioToSort())); }

QString Badge::ratioTooltip() const {
  const QString finite = std::isnan(largestRatio) ? QString() : QStringLiteral("%1 times the tolerance of its op site").arg(qt(base::shortNumber(largestRatio)));
  if (kind >= Kind::consequence) return QStringLiteral("NaN and infinities are outside any tolerance") + (finite.isEmpty() ? QString() : QStringLiteral("; what is finite in both runs: ") + finite);
  return finite.isEmpty() ? QStringLiteral("nothing compared") : QStringLiteral("worst relative L2 error is ") + finite;
}

QString Badge::accessibleText() const {
  QString words;
  switch (kind) {
    case Kind::none: return QStringLiteral("nothing compared");
    case Kind::origin: words = QStringLiteral("first non-finite values arise here"); break;
    case Kind::consequence: words = QStringLiteral("non-finite values from above"); break;
    case Kind::withinTolerance:
    case Kind::overTolerance:
    case Kind::farOver: words = QStringLiteral("worst relative L2 error %1, %2 times the tolerance").arg(text(), qt(base::shortNumber(ratio))); break;
  }
  if (kind == Kind::withinTolerance) words += QStringLiteral(": within it");
  if (!std::isnan(introduced)) words += QStringLiteral("; largest introduced error %1").arg(qt(base::shortNumber(introduced)));
  return words;
}

Badge siteBadge(const session::SiteSummary& site, double tolerance) {
  Badge badge;
  badge.relL2 = site.values[Metric::relL2];
  badge.introduced = site.values[Metric::introducedRelL2];
  badge.ratio = std::isnan(site.values[Metric::relL2]) ? 0 : site.values[Metric::relL2] / tolerance;
  badge.largestRatio = site.values[Metric::relL2] / tolerance;
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
    if (isNew) return;
    const double introduced = std::fmax(at->second.introduced, badge.introduced);  // the number, where one is NaN
    const double largestRatio = std::fmax(at->second.largestRatio, badge.largestRatio);
    if (at->second < badge) at->second = badge;
    at->second.introduced = introduced;
    at->second.largestRatio = largestRatio;
  };
  for (const session::SiteSummary& site : run.sites) {
    const Badge badge = siteBadge(site, tolerance);
    for (std::string path = site.modulePath; !path.empty(); path = model::parentPath(path)) merge(path, badge);
    merge({}, badge);
  }
  return badges;
}

std::vector<IntroducedError> rankedByIntroducedError(const session::RunRecord& run) {
  std::map<std::string, IntroducedError> worst;
  for (std::size_t i = 0; i < run.sites.size(); ++i) {
    const double error = run.sites[i].values[Metric::introducedRelL2];
    if (!(error > 0)) continue;  // NaN: not evaluated
    IntroducedError& at = worst[run.sites[i].modulePath];
    if (error > at.error) at = {run.sites[i].modulePath, static_cast<std::int64_t>(i), error};
  }
  std::vector<IntroducedError> ranked;
  for (const auto& [path, introduced] : worst) ranked.push_back(introduced);
  std::sort(ranked.begin(), ranked.end(), [](const IntroducedError& a, const IntroducedError& b) { return a.error != b.error ? a.error > b.error : a.site < b.site; });
  return ranked;
}

std::vector<StartingPoint> startingPoints(const session::Session& session, const session::RunRecord& run) {
  std::vector<StartingPoint> points;
  const auto& ids = session.samples.ids;
  for (const session::NonfiniteFinding& origin : run.nonfiniteOrigins) {
    const auto sample = origin.sampleIds.empty() ? ids.end() : std::find(ids.begin(), ids.end(), origin.sampleIds.front());
    points.push_back({origin.modulePath, origin.site, sample == ids.end() ? -1 : sample - ids.begin(), origin.diagnosis, 0});
  }
  for (const IntroducedError& introduced : rankedByIntroducedError(run)) {
    const bool isOrigin = std::any_of(points.begin(), points.end(), [&](const StartingPoint& p) { return p.site == introduced.site; });
    if (!isOrigin) points.push_back({introduced.modulePath, introduced.site, -1, {}, introduced.error});
  }
  return points;
}

}  // namespace ulpscope::models
