#include "core/session/session.h"

#include <algorithm>

namespace ulpscope::session {

const RunRecord* Session::run(const std::string& runId) const {
  for (const RunRecord& r : runs)
    if (r.id() == runId) return &r;
  return nullptr;
}

const RunRecord* Session::latest() const { return runs.empty() ? nullptr : &runs.back(); }

const RunRecord* Session::baseline() const {
  const auto found = std::find_if(runs.begin(), runs.end(), [this](const RunRecord& r) { return r.number == baselineNumber; });
  return found == runs.end() ? nullptr : &*found;
}

const DeletedRun* Session::deletedRun(const std::string& runId) const {
  const auto found = std::find_if(deleted.begin(), deleted.end(), [&](const DeletedRun& d) { return d.run.id() == runId; });
  return found == deleted.end() ? nullptr : &*found;
}

std::string Session::runName(int number) const {
  const auto found = runNames.find(number);
  return found == runNames.end() ? std::string() : found->second;
}

std::string Session::className(std::int64_t index) const {
  if (index >= 0 && static_cast<std::size_t>(index) < samples.classNames.size())
    return samples.classNames[static_cast<std::size_t>(index)];
  return std::to_string(index);
}

std::string runLabel(const RunRecord& run) {
  std::string label = run.settings.autocast == base::DType::bfloat16 ? "BF16" : "FP16";
  const auto list = [](const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& p : paths) text += (text.empty() ? "" : ", ") + p;
    return text;
  };
  if (!run.settings.fp32.empty()) label += ", FP32: " + list(run.settings.fp32);
  if (!run.settings.disable.empty()) label += ", autocast off: " + list(run.settings.disable);
  if (const std::size_t only = run.settings.onlySamples.size(); only > 0) label += ", " + std::to_string(only) + (only == 1 ? " sample only" : " samples only");
  if (run.settings.observe == Observe::outputs) label += ", outputs only";
  return label;
}

bool Session::criteriaAfterResults() const {
  return (explored && explored->sameSamples && explored->runs > 0) || std::any_of(criteria.begin(), criteria.end(), [](const auto& r) { return r.afterResults; });
}

std::int64_t Session::candidatesTried() const {
  const auto own = std::count_if(runs.begin(), runs.end(), [](const RunRecord& r) { return r.settings.onlySamples.empty(); });
  return own + candidatesDeleted() + (explored && explored->sameSamples ? explored->runs : 0);
}

std::int64_t Session::candidatesDeleted() const {
  return std::count_if(deleted.begin(), deleted.end(), [](const DeletedRun& d) { return d.run.settings.onlySamples.empty(); }) +
         std::count_if(purged.begin(), purged.end(), [](const PurgedRun& p) { return p.whole; });
}

bool Session::hasResults() const { return !runs.empty() || !deleted.empty() || !purged.empty(); }

bool Session::holdsNothing() const { return !hasResults() && trainings.empty() && scans.empty() && trainingCriteria.empty() && exploratory(); }

int Session::lastNumber() const {
  int last = runs.empty() ? 0 : runs.back().number;
  for (const DeletedRun& d : deleted) last = std::max(last, d.run.number);
  for (const PurgedRun& p : purged) last = std::max(last, p.number);
  return last;
}

const RunRecord* Session::firstEver() const {
  const RunRecord* first = runs.empty() ? nullptr : &runs.front();
  for (const DeletedRun& d : deleted)
    if (!first || d.run.number < first->number) first = &d.run;
  return first;
}

std::string cleanRunName(const std::string& text) {
  constexpr std::size_t kMost = 120;
  std::string name;
  for (const char c : text) name += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
  if (name.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // never in the middle of a character
    name.resize(end);
  }
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

}  // namespace ulpscope::session
