#include "core/session/run_record.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::session {

std::string name(NonfiniteRole role) {
  switch (role) {
    case NonfiniteRole::none: return "none";
    case NonfiniteRole::origin: return "origin";
    case NonfiniteRole::consequence: return "consequence";
  }
  return "none";
}

std::optional<NonfiniteRole> nonfiniteRoleFromName(const std::string& text) {
  for (const NonfiniteRole role : {NonfiniteRole::none, NonfiniteRole::origin, NonfiniteRole::consequence})
    if (text == name(role)) return role;
  return std::nullopt;
}

std::string name(RunStatus status) {
  switch (status) {
    case RunStatus::ok: return "ok";
    case RunStatus::partial: return "partial";
    case RunStatus::cancelled: return "cancelled";
  }
  return "ok";
}

std::string SampleAxis::text() const {
  switch (kind) {
    case Kind::wholeBatch: return "whole_batch";
    case Kind::plain: return std::to_string(axis);
    case Kind::sampleMajor: return std::to_string(axis) + ":batch*n";
    case Kind::sampleMinor: return std::to_string(axis) + ":n*batch";
  }
  return "whole_batch";
}

SampleAxis SampleAxis::fromText(const std::string& text) {
  SampleAxis result;
  if (text.empty() || text == "whole_batch") return result;
  result.axis = std::atoi(text.c_str());
  const auto colon = text.find(':');
  if (colon == std::string::npos)
    result.kind = Kind::plain;
  else
    result.kind = text.substr(colon) == ":batch*n" ? Kind::sampleMajor : Kind::sampleMinor;
  return result;
}

std::string siteLabel(const SiteSummary& site) {
  const std::string module = site.modulePath.empty() ? "(root)" : site.modulePath;
  return module + ": " + site.op + (site.occurrence > 1 ? "#" + std::to_string(site.occurrence) : "");
}

std::string patternOfLabel(std::string text) {
  if (const auto op = text.find(": aten::"); op != std::string::npos) text.erase(op + 1, 1);
  const std::string root = "(root)";
  if (text.rfind(root, 0) == 0 && (text.size() == root.size() || text[root.size()] == ':')) text.replace(0, root.size(), ".");
  return text;
}

bool RunRecord::ran(const std::string& sampleId) const {
  const auto& only = settings.onlySamples;
  return only.empty() || std::find(only.begin(), only.end(), sampleId) != only.end();
}

std::string RunRecord::id() const { return fmt::format("run_{:04}", number); }

SiteTolerance siteTolerance(base::DType low) {
  // torch.testing.assert_close's defaults: float16 rtol 1e-3, bfloat16 rtol 1.6e-2, atol 1e-5 for both.
  return low == base::DType::bfloat16 ? SiteTolerance{1.6e-2, 1e-5} : SiteTolerance{1e-3, 1e-5};
}

const NonfiniteFinding* RunRecord::unexplained() const {
  const auto found = std::find_if(referenceNonfinite.begin(), referenceNonfinite.end(), [](const auto& f) { return f.explainedBy.empty(); });
  return found == referenceNonfinite.end() ? nullptr : &*found;
}

}  // namespace ulpscope::session
