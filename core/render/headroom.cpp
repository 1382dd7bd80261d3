#include "core/render/headroom.h"

#include "core/base/float_formats.h"
#include "core/session/site_key.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace ulpscope::render {
namespace {

using session::Metric;
using session::SiteSummary;

constexpr double kLimitWithin = 4;  // decades
constexpr double kRoom = 0.6;       // decades above and below

bool isMeasured(const SiteSummary& site) {
  return site.viewOf.empty() && base::isInexact(site.candidateDtype) && (site.values.has(Metric::referenceMaxAbs) || site.values.has(Metric::candidateMaxAbs));
}

std::array<double, 4> valuesOf(const HeadroomSite& site) { return {site.referenceMax, site.candidateMax, site.referenceSmallest, site.candidateSmallest}; }

}  // namespace

HeadroomState headroomState(const SiteSummary& site, base::DType low) {
  if (!isMeasured(site)) return HeadroomState::notMeasured;
  if (site.candidateOnly.plusInf + site.candidateOnly.minusInf > 0) return HeadroomState::overflow;
  const double bits = site.values[Metric::headroomBits];
  if (bits < 0) return site.candidateDtype == low ? HeadroomState::overflow : HeadroomState::beyond;
  return bits < 1 ? HeadroomState::tight : HeadroomState::ample;
}

std::string label(HeadroomState state) {
  switch (state) {
    case HeadroomState::notMeasured: return "not measured";
    case HeadroomState::ample: return "1 bit or more";
    case HeadroomState::tight: return "less than 1 bit";
    case HeadroomState::beyond: return "beyond, but kept wider";
    case HeadroomState::overflow: return "overflows";
  }
  return "";
}

std::vector<HeadroomSite> headroomSites(const session::RunRecord& run) {
  std::vector<HeadroomSite> sites;
  for (std::size_t i = 0; i < run.sites.size(); ++i) {
    const SiteSummary& site = run.sites[i];
    const HeadroomState state = headroomState(site, run.settings.autocast);
    if (state == HeadroomState::notMeasured) continue;
    const auto& v = site.values;
    sites.push_back({static_cast<std::int64_t>(i), state, v[Metric::referenceMaxAbs], v[Metric::candidateMaxAbs], v[Metric::referenceSmallest], v[Metric::candidateSmallest], v[Metric::headroomBits]});
  }
  return sites;
}

std::vector<double> candidateMaxima(const session::RunRecord& run, const std::vector<HeadroomSite>& sites, const session::RunRecord& other) {
  std::map<session::SiteKey, double> maxima;
  for (const SiteSummary& site : other.sites)
    if (isMeasured(site)) maxima.emplace(siteKey(site), site.values[Metric::candidateMaxAbs]);
  std::vector<double> values;
  for (const HeadroomSite& site : sites) {
    const auto found = maxima.find(siteKey(run.sites[static_cast<std::size_t>(site.site)]));
    values.push_back(found == maxima.end() ? std::numeric_limits<double>::quiet_NaN() : found->second);
  }
  return values;
}

bool isZeros(const HeadroomSite& site) { return site.referenceMax == 0 || site.candidateMax == 0; }

bool isBelow(const HeadroomSite& site, const HeadroomAxis& axis) {
  const auto values = valuesOf(site);
  return std::any_of(values.begin(), values.end(), [&](double v) { return v > 0 && std::log10(v) < axis.low; });
}

HeadroomAxis headroomAxis(const std::vector<HeadroomSite>& sites, base::DType low) {
  const base::FormatLimits limits = base::limits(low);
  const double floor = std::log10(limits.minSubnormal) - 1;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  HeadroomAxis axis;
  for (const HeadroomSite& site : sites) {
    bool isBelow = false;
    for (const double v : valuesOf(site)) {
      if (!std::isfinite(v) || v <= 0) continue;
      isBelow = isBelow || std::log10(v) < floor;
      least = std::min(least, std::max(floor, std::log10(v)));
      most = std::max(most, std::max(floor, std::log10(v)));
    }
    axis.below += isBelow ? 1 : 0;
    axis.zeros += isZeros(site) ? 1 : 0;
  }
  if (least > most) return axis;
  axis.low = least;
  axis.high = most;
  for (const double limit : {limits.maxFinite, limits.minNormal, limits.minSubnormal}) {
    const double at = std::log10(limit);
    if (at < least - kLimitWithin || at > most + kLimitWithin) continue;
    axis.low = std::min(axis.low, at);
    axis.high = std::max(axis.high, at);
  }
  axis.low = axis.below > 0 ? floor : std::max(floor, axis.low - kRoom);
  axis.high += kRoom;
  return axis;
}

}  // namespace ulpscope::render
