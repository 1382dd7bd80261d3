#include "core/session/sample_choice.h"

#include "core/base/json_text.h"
#include "core/base/nearest_names.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

namespace ulpscope::session {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

constexpr const char* kNear = "near:";

Error usage(const std::string& text, const std::string& what, const std::string& remedy) {
  return Error{ErrorKind::usage, what, "--only-samples " + text, remedy};
}

const RunRecord* latestWhole(const Session& session, std::optional<base::DType> autocast) {
  const RunRecord* latest = nullptr;
  for (auto run = session.runs.rbegin(); run != session.runs.rend(); ++run) {
    if (!run->settings.onlySamples.empty() || run->status != RunStatus::ok) continue;
    if (!autocast || run->settings.autocast == *autocast) return &*run;
    if (!latest) latest = &*run;
  }
  return latest;
}

std::set<std::string> nonfiniteIn(const RunRecord& run) {
  std::set<std::string> ids(run.nonfiniteSamples.begin(), run.nonfiniteSamples.end());
  ids.insert(run.noDecision.begin(), run.noDecision.end());
  for (const NonfiniteFinding& finding : run.nonfiniteOrigins) ids.insert(finding.sampleIds.begin(), finding.sampleIds.end());
  return ids;
}

Result<std::set<std::string>> nearest(const Session& session, const RunRecord& run, const std::string& text) {
  const std::string number = text.substr(std::string(kNear).size());
  std::size_t count = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() || count == 0)
    return usage(text, "needs a whole number from 1 after 'near:'", "for instance near:20");
  if (run.decisions.empty()) return usage(text, run.id() + " has no decisions, so no margins", "run once with --decision argmax first");
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < run.decisions.size() && i < session.samples.ids.size(); ++i)
    if (!std::isnan(run.decisions[i].referenceMargin)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return run.decisions[a].referenceMargin < run.decisions[b].referenceMargin; });
  if (order.empty()) return usage(text, run.id() + " has no margin that is a number", "look at its non-finite samples: --only-samples nonfinite");
  if (order.size() > count) order.resize(count);
  std::set<std::string> ids;
  for (const std::size_t i : order) ids.insert(session.samples.ids[i]);
  return ids;
}

Result<std::set<std::string>> named(const Session& session, const std::string& text) {
  const auto given = sampleIdsIn(text);
  if (!given) return given.error();
  std::set<std::string> ids;
  for (const std::string& id : given.value()) {
    if (std::find(session.samples.ids.begin(), session.samples.ids.end(), id) == session.samples.ids.end())
      return usage(text, "no sample has the id '" + id + "'", "the nearest ids are " + base::quotedChoice(base::nearestNames(id, session.samples.ids)) + "; or use flips, near:N or nonfinite");
    ids.insert(id);
  }
  return ids;
}

Result<std::set<std::string>> chosenFrom(const Session& session, const RunRecord& run, const std::string& text) {
  if (text == "nonfinite") return nonfiniteIn(run);
  if (text.rfind(kNear, 0) == 0) return nearest(session, run, text);
  if (!run.settings.decision.decides()) return usage(text, run.id() + " has no decisions", "run once with --decision argmax first");
  std::set<std::string> ids;
  for (const Flip& flip : run.flips) ids.insert(flip.sampleId);
  return ids;
}

SampleChoice inOrder(const Session& session, const std::set<std::string>& ids, const std::string& runId) {
  SampleChoice choice{{}, runId};
  for (const std::string& id : session.samples.ids)
    if (ids.count(id)) choice.ids.push_back(id);
  return choice;
}

Result<std::vector<std::string>> idsInArray(const std::string& text) {
  const auto read = base::readJson(text, {});
  const nlohmann::json array = read ? read.value() : nlohmann::json();
  const bool strings = array.is_array() && std::all_of(array.begin(), array.end(), [](const auto& id) { return id.is_string(); });
  if (!strings) return usage(text, "is no JSON array of strings", "for instance --only-samples '[\"a,b\",\"c\"]'");
  return array.get<std::vector<std::string>>();
}

std::vector<std::string> idsBetweenCommas(const std::string& text) {
  std::vector<std::string> ids;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) ids.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return ids;
}

bool isArray(const std::string& text) { return !text.empty() && text.front() == '['; }

}  // namespace

bool choosesFromRun(const std::string& text) { return text == "flips" || text == "nonfinite" || text.rfind(kNear, 0) == 0; }

Result<std::vector<std::string>> sampleIdsIn(const std::string& text) {
  auto ids = isArray(text) ? idsInArray(text) : Result<std::vector<std::string>>(idsBetweenCommas(text));
  if (ids && ids->empty()) return usage(text, "names no sample", "use flips, near:N, nonfinite or ids: a,b");
  return ids;
}

std::string sampleIdsText(const std::vector<std::string>& ids) {
  const std::string plain = fmt::format("{}", fmt::join(ids, ","));
  const bool readsBack = !isArray(plain) && !choosesFromRun(plain) && idsBetweenCommas(plain) == ids;
  return readsBack ? plain : nlohmann::json(ids).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<SampleChoice> chooseSamples(const Session& session, const std::string& text, std::optional<base::DType> autocast) {
  if (!choosesFromRun(text)) {
    const auto ids = named(session, text);
    return ids ? Result<SampleChoice>(inOrder(session, ids.value(), "")) : ids.error();
  }
  const RunRecord* run = latestWhole(session, autocast);
  if (!run) return usage(text, "the session has no complete run over all samples to choose from", "run once without --only-samples first");
  const auto ids = chosenFrom(session, *run, text);
  if (!ids) return ids.error();
  return inOrder(session, ids.value(), run->id());
}

}  // namespace ulpscope::session
