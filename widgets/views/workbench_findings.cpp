// The findings of the run shown, and going from one to the next.
#include "widgets/models/badge.h"
#include "widgets/models/text.h"
#include "widgets/views/workbench.h"

#include <algorithm>

namespace ulpscope::views {
namespace {

using models::qt;

// As the gallery has them: what a release loses comes before what it gains.
std::vector<const session::Flip*> regressedFirst(const std::vector<session::Flip>& flips) {
  std::vector<const session::Flip*> order;
  for (const session::Flip& flip : flips) order.push_back(&flip);
  std::stable_partition(order.begin(), order.end(), [](const session::Flip* flip) { return flip->effect == "regressed"; });
  return order;
}

std::int64_t sampleIndex(const session::Session& session, const std::vector<std::string>& ids) {
  if (ids.empty()) return -1;
  for (std::size_t i = 0; i < session.samples.ids.size(); ++i)
    if (session.samples.ids[i] == ids.front()) return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace

std::vector<FindingPlace> Workbench::findings() const {
  std::vector<FindingPlace> places;
  const models::RunPointer& loaded = shownRun();
  if (!loaded) return places;
  for (const session::NonfiniteFinding& f : loaded->run->nonfiniteOrigins)
    places.push_back({qt(f.modulePath), f.site, sampleIndex(*loaded->session, f.sampleIds), qt(f.diagnosis)});
  for (const session::Flip* flip : regressedFirst(loaded->run->flips)) {
    const std::int64_t site = flip->firstSiteOverTolerance;
    const QString path = site >= 0 ? qt(loaded->run->sites[static_cast<std::size_t>(site)].modulePath) : QString();
    places.push_back({path, site, flip->sample, tr("sample %1 flips: %2").arg(qt(flip->sampleId), qt(flip->effect.empty() ? flip->kind : flip->effect))});
  }
  return places;
}

int Workbench::currentFinding(const std::vector<FindingPlace>& places) const {
  for (std::size_t i = 0; i < places.size(); ++i)
    if (m_selection.modulePath() == places[i].modulePath && m_selection.site() == places[i].site &&
        (places[i].sample < 0 || m_selection.sample() == places[i].sample))
      return static_cast<int>(i);
  return -1;
}

void Workbench::selectPlace(const FindingPlace& place) {
  m_selection.select(place.modulePath, place.site, place.sample);
  emit notice(place.text);
}

void Workbench::selectFirstNonfinite() {
  const models::RunPointer& loaded = shownRun();
  if (!loaded) return;
  if (const session::NonfiniteFinding* own = loaded->run->unexplained(); own != nullptr && loaded->run->nonfiniteOrigins.empty())
    emit notice(tr("%1: FP32 itself has NaN or inf, so it is no baseline: %2").arg(loaded->label(), qt(own->diagnosis)));
  else if (loaded->run->nonfiniteOrigins.empty())
    emit notice(tr("%1: no NaN or inf that FP32 does not have.").arg(loaded->label()));
  else
    selectPlace(findings().front());
}

// Where a session opens: at its first non-finite op, at its first flip, or where most of the error starts.
void Workbench::selectFirst() {
  if (!shownRun()) return;
  if (const auto places = findings(); !places.empty()) return selectPlace(places.front());
  if (const auto ranked = models::rankedByIntroducedError(*shownRun()->run); !ranked.empty())
    m_selection.select(qt(ranked.front().modulePath), ranked.front().site, shownRun()->run->sites[static_cast<std::size_t>(ranked.front().site)].worstSample);
  selectFirstNonfinite();
}

void Workbench::selectFinding(int step) {
  const std::vector<FindingPlace> places = findings();
  if (places.empty()) {
    emit notice(tr("No findings in this run."));
    return;
  }
  const int count = static_cast<int>(places.size());
  const int at = currentFinding(places);
  const int next = at < 0 ? (step > 0 ? 0 : count - 1) : (at + step + count) % count;
  selectPlace(places[static_cast<std::size_t>(next)]);
}

}  // namespace ulpscope::views
