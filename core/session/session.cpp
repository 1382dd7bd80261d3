#include "core/session/session.h"

#include <algorithm>

namespace ulpscope::session {

const RunRecord* Session::run(const std::string& runId) const {
  for (const RunRecord& r : runs)
    if (r.id() == runId) return &r;
  return nullptr;
}

const RunRecord* Session::latest() const { return runs.empty() ? nullptr : &runs.back(); }

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
  return own + (explored && explored->sameSamples ? explored->runs : 0);
}

}  // namespace ulpscope::session
