#include "core/session/scan.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::session {
namespace {

constexpr std::size_t kNamed = 4;  // values of a decision that stand in its name

std::string valuesText(const Scan& scan, const ScanDecision& decision, const std::vector<std::string>& classNames) {
  std::string text;
  for (std::size_t i = 0; i < std::min(decision.values.size(), kNamed); ++i)
    text += (i > 0 ? ", " : "") + decisionName(scan.settings.decision, decision.values[i], classNames);
  return decision.count > static_cast<std::int64_t>(kNamed) ? fmt::format("{}, ... ({})", text, decision.count) : text;
}

std::string idsText(const Scan& scan) {
  if (scan.kind == ScanKind::near) return scan.sampleIds.empty() ? "all samples" : base::counted(static_cast<std::int64_t>(scan.sampleIds.size()), "sample");
  std::string text;
  for (const std::string& id : scan.sampleIds) text += (text.empty() ? "" : scan.kind == ScanKind::plane ? ", " : " to ") + id;
  return text;
}

std::string segmentText(const SegmentScan& segment) {
  const auto count = static_cast<std::int64_t>(segment.disagreement.size());
  if (count == 0) return segment.referenceCrossings.empty() && segment.candidateCrossings.empty() ? "no boundary" : "no disagreement";
  const std::string flicker = segment.flicker.empty() ? "" : ", flicker";
  return fmt::format("{} of disagreement, {} of the segment{}", base::counted(count, "strip"), base::shortNumber(segment.disagreeing()), flicker);
}

}  // namespace

double SegmentScan::disagreeing() const {
  double sum = 0;
  for (const Disagreement& d : disagreement) sum += d.at.width();
  return sum;
}

std::int64_t NearScan::within() const {
  return std::count_if(curve.begin(), curve.end(), [](const DecidedWithin& d) { return d.withinError(); });
}

std::string decisionName(const Scan& scan, int decision, const std::vector<std::string>& classNames) {
  if (decision < 0 || static_cast<std::size_t>(decision) >= scan.decisions.size()) return "no decision";
  const ScanDecision& d = scan.decisions[static_cast<std::size_t>(decision)];
  const bool isSet = scan.settings.decision.kind == DecisionRule::Kind::topk;
  const std::string values = valuesText(scan, d, classNames);
  return (d.tied ? "tie: " : "") + (isSet ? "{" + values + "}" : values);
}

std::string scanTitle(const Scan& scan) {
  const std::string what = (scan.settings.autocast == base::DType::bfloat16 ? "BF16" : "FP16") + std::string(scan.settings.fp32.empty() && scan.settings.disable.empty() ? "" : " with regions");
  std::string found;
  if (scan.segment) found = segmentText(*scan.segment);
  if (scan.near) found = fmt::format("{} of {} decided within the error", scan.near->within(), base::counted(static_cast<std::int64_t>(scan.near->curve.size()), "sample"));
  if (scan.plane) found = fmt::format("{} of {} points flip", base::groupedInteger(scan.plane->flips), base::groupedInteger(scan.plane->decided));
  return fmt::format("{} {}, {}: {}", name(scan.kind), idsText(scan), what, found);
}

}  // namespace ulpscope::session
