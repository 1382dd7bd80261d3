#include "widgets/models/loaded_run.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::models {
namespace {

using session::Metric;

int rank(session::NonfiniteRole role) {
  switch (role) {
    case session::NonfiniteRole::none: return 0;
    case session::NonfiniteRole::consequence: return 1;
    case session::NonfiniteRole::origin: return 2;
  }
  return 0;
}

bool isWorse(const session::SiteSummary& a, const session::SiteSummary& b) {
  if (rank(a.role) != rank(b.role)) return rank(a.role) > rank(b.role);
  if (std::isnan(b.values[Metric::relL2])) return !std::isnan(a.values[Metric::relL2]);
  return a.values[Metric::relL2] > b.values[Metric::relL2];
}

// The record has the name of the op's argument; a foreign one may name an op site.
QString viewText(const session::SiteSummary& site) {
  const QString of = site.viewOf.find(':') == std::string::npos ? QStringLiteral("its argument '%1'").arg(qt(site.viewOf)) : qt(site.viewOf);
  return QStringLiteral("it ran, but only gives a view of %1: the same values, with the numbers of the op that made them").arg(of);
}

}  // namespace

QString LoadedRun::id() const { return qt(run->id()); }

QString LoadedRun::shortName() const { return QStringLiteral("run %1").arg(run->number); }

QString LoadedRun::label() const { return shortName() + QStringLiteral(": ") + qt(session::runLabel(*run)); }

double LoadedRun::tolerance() const { return session::siteTolerance(run->settings.autocast).rtol; }

const std::vector<std::int64_t>& LoadedRun::sitesOf(const QString& path) const {
  static const std::vector<std::int64_t> none;
  const std::string wanted = core(path);
  for (const render::ModuleRow& row : rows)
    if (row.path == wanted) return row.sites;
  return none;
}

std::vector<std::int64_t> LoadedRun::sitesWithin(const QString& path) const {
  std::vector<std::int64_t> sites;
  const std::string ancestor = core(path);
  for (std::size_t i = 0; i < run->sites.size(); ++i)
    if (model::isWithin(run->sites[i].modulePath, ancestor)) sites.push_back(static_cast<std::int64_t>(i));
  return sites;
}

std::int64_t LoadedRun::worstSite(const QString& path) const {
  const std::vector<std::int64_t>& own = sitesOf(path);
  std::int64_t worst = -1;
  for (const std::int64_t site : own.empty() ? sitesWithin(path) : own)
    if (worst < 0 || isWorse(run->sites[static_cast<std::size_t>(site)], run->sites[static_cast<std::size_t>(worst)])) worst = site;
  return worst;
}

RunPointer makeLoadedRun(std::shared_ptr<const session::Session> session, const session::RunRecord& run,
                         std::shared_ptr<const storage::RunMetrics> metrics, const QString& metricsError) {
  auto loaded = std::make_shared<LoadedRun>();
  loaded->rows = render::moduleRows(*session, run);
  loaded->outputRows = render::outputRows(*session, run);
  loaded->session = std::move(session);
  loaded->run = &run;
  loaded->metrics = std::move(metrics);
  loaded->metricsError = metricsError;
  return loaded;
}

QString whyNoNumber(const LoadedRun& run, const std::vector<std::int64_t>& sites, std::int64_t sample) {
  const auto all = [&](auto holds) { return std::all_of(sites.begin(), sites.end(), [&](std::int64_t i) { return holds(run.run->sites[static_cast<std::size_t>(i)]); }); };
  const auto& ids = run.session->samples.ids;
  if (sample >= 0 && static_cast<std::size_t>(sample) < ids.size() && !run.run->ran(ids[static_cast<std::size_t>(sample)])) return QStringLiteral("not run: this run left the sample out");
  if (all([](const session::SiteSummary& site) { return !site.viewOf.empty(); }) && !sites.empty()) return viewText(run.run->sites[static_cast<std::size_t>(sites.front())]);
  if (all([](const session::SiteSummary& site) { return !base::isInexact(site.candidateDtype); })) return QStringLiteral("whole numbers, which have no such error");
  return QStringLiteral("nothing finite to compare, or not reached");
}

QString lowFormat(const session::RunRecord& run) { return run.settings.autocast == base::DType::bfloat16 ? QStringLiteral("BF16") : QStringLiteral("FP16"); }

QString outcome(const session::RunRecord& run) {
  if (run.candidateError) return QStringLiteral("stopped in %1").arg(modulePathText(qt(run.candidateError->modulePath)));
  QStringList parts;
  if (run.unexplained() != nullptr) parts << QStringLiteral("FP32 itself has NaN or inf: no baseline");
  const std::size_t origins = run.nonfiniteOrigins.size();
  parts << (origins == 0 ? (run.referenceNonfinite.empty() ? QStringLiteral("no NaN or inf") : QStringLiteral("none beyond FP32's own")) : qt(base::counted(static_cast<std::int64_t>(origins), "non-finite origin")));
  if (run.settings.decision.decides())
    parts << qt(base::counted(static_cast<std::int64_t>(run.flips.size()), "flip"));
  if (!run.noDecision.empty()) parts << QStringLiteral("%1 without a decision").arg(run.noDecision.size());
  return parts.join(QStringLiteral(", "));
}

QString verdictLine(const session::Session& session, const session::RunRecord& run) {
  if (session.exploratory()) return QStringLiteral("exploratory: no criteria, no verdict");
  if (!run.verdict) return QStringLiteral("no verdict");
  QString line = QStringLiteral("verdict: %1 (criteria revision %2)").arg(qt(session::name(run.verdict->status))).arg(run.verdict->revision);
  if (run.verdict->revision < session.criteria.back().number) line += QStringLiteral(", revised since");
  if (session.criteriaAfterResults()) line += QStringLiteral(", criteria after results");
  return line;
}

double worstError(const session::RunRecord& run) {
  double worst = std::numeric_limits<double>::quiet_NaN();
  for (const session::SiteSummary& site : run.sites)
    if (!std::isnan(site.values[Metric::relL2]) && !(site.values[Metric::relL2] <= worst)) worst = site.values[Metric::relL2];
  return worst;
}

}  // namespace ulpscope::models
