#include "core/session/scan.h"

#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

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

double widthOf(const std::vector<Disagreement>& strips) {
  return std::accumulate(strips.begin(), strips.end(), 0.0, [](double sum, const Disagreement& d) { return sum + d.at.width(); });
}

std::string disagreementText(const SegmentScan& segment) {
  const std::vector<Disagreement> strips = segment.beyondNoise();
  const auto noise = static_cast<std::int64_t>(segment.disagreement.size() - strips.size());
  if (segment.disagreement.empty()) return segment.referenceCrossings.empty() && segment.candidateCrossings.empty() ? "no boundary" : "no disagreement";
  if (strips.empty()) return fmt::format("{} of disagreement, within FP32's own noise", base::counted(noise, "strip"));
  return fmt::format("{} of disagreement, {} of the segment{}", base::counted(static_cast<std::int64_t>(strips.size()), "strip"), base::shortNumber(widthOf(strips)),
                     noise > 0 ? fmt::format(" ({} more within FP32's own noise)", base::groupedInteger(noise)) : "");
}

std::string segmentText(const SegmentScan& segment) {
  std::string text = disagreementText(segment) + (segment.flicker.empty() ? "" : ", flicker");
  for (const auto& [run, list] : {std::pair{"FP32", &segment.referenceNoDecision}, {"AMP", &segment.candidateNoDecision}})
    if (!list->empty()) text += fmt::format(", no {} decision (NaN) on {}", run, base::shortNumber(std::accumulate(list->begin(), list->end(), 0.0, [](double sum, const Stretch& s) { return sum + s.width(); })));
  return text;
}

std::string nearText(const NearScan& near) {
  std::string text = fmt::format("{} of {} decided within the error", near.within(), base::counted(static_cast<std::int64_t>(near.curve.size()), "sample"));
  return near.undecided() > 0 ? fmt::format("{}, {} without a decision (NaN)", text, base::groupedInteger(near.undecided())) : text;
}

std::string planeText(const PlaneScan& plane) {
  const auto undecided = static_cast<std::int64_t>(plane.points.size()) - plane.decided;
  return fmt::format("{} of {} points flip{}", base::groupedInteger(plane.flips), base::groupedInteger(plane.decided), undecided > 0 ? fmt::format(", {} without a decision (NaN)", base::groupedInteger(undecided)) : "");
}

}  // namespace

double SegmentScan::disagreeing() const { return widthOf(disagreement); }

std::vector<Disagreement> SegmentScan::beyondNoise() const {
  std::vector<Disagreement> strips;
  std::copy_if(disagreement.begin(), disagreement.end(), std::back_inserter(strips), [](const Disagreement& d) { return !d.withinNoise; });
  return strips;
}

std::int64_t NearScan::within() const {
  return std::count_if(curve.begin(), curve.end(), [](const DecidedWithin& d) { return d.withinError(); });
}

std::int64_t NearScan::undecided() const {
  return std::count_if(curve.begin(), curve.end(), [](const DecidedWithin& d) { return !d.isDecided(); });
}

std::string flipText(const Scan& scan, const NearestFlip& flip, double limit, const std::vector<std::string>& classNames) {
  if (!flip.found) return "beyond " + base::shortNumber(limit);
  if (flip.to == kNoDecision) return flip.step == 0 ? "NaN already" : fmt::format("NaN from {} on", base::shortNumber(flip.step));
  return flip.step == 0 ? fmt::format("is {} already", decisionName(scan, flip.to, classNames)) : base::shortNumber(flip.step);
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
  if (scan.near) found = nearText(*scan.near);
  if (scan.plane) found = planeText(*scan.plane);
  return fmt::format("{} {}, {}: {}", name(scan.kind), idsText(scan), what, found);
}

}  // namespace ulpscope::session
