#include "widgets/models/loaded_scan.h"

#include "core/base/number_text.h"
#include "widgets/models/text.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::models {
namespace {

using base::counted;
using base::exactNumber;
using base::groupedInteger;
using base::shortNumber;
using session::PairAtPoint;
using session::Scan;
using session::SegmentScan;

QString number(double value) { return qt(shortNumber(value)); }
QString count(std::size_t n, const char* noun) { return qt(counted(static_cast<std::int64_t>(n), noun)); }

QString sampleText(const Scan& scan, std::size_t i) { return i < scan.sampleIds.size() ? qt(scan.sampleIds[i]) : QString(); }

QString crossingsText(const LoadedScan& loaded, const std::vector<session::Crossing>& crossings, const QString& run) {
  if (crossings.empty()) return QStringLiteral("%1 does not cross").arg(run);
  const session::Crossing& first = crossings.front();
  const QString where = QStringLiteral("t = %1 (%2 → %3)").arg(timeText(static_cast<double>(first.t)), decisionText(loaded, first.from), decisionText(loaded, first.to));
  if (crossings.size() == 1) return QStringLiteral("%1 crosses at %2").arg(run, where);
  return QStringLiteral("%1 crosses %2 times, first at %3").arg(run, qt(groupedInteger(static_cast<std::int64_t>(crossings.size()))), where);
}

QString disagreementText(const SegmentScan& segment) {
  if (segment.disagreement.empty()) return QStringLiteral("They decide the same wherever both decide, at all points that were looked at");
  const auto within = std::count_if(segment.disagreement.begin(), segment.disagreement.end(), [](const auto& strip) { return strip.withinNoise; });
  QString text = QStringLiteral("They disagree in %1, %2 of the way (%3 in the input's L2 norm)")
                     .arg(count(segment.disagreement.size(), "strip"), number(segment.disagreeing()), number(segment.disagreeing() * segment.length));
  if (within > 0) text += QStringLiteral("; %1 of them within FP32's own noise").arg(qt(groupedInteger(within)));
  return text;
}

QStringList segmentHeadline(const LoadedScan& loaded, const SegmentScan& segment) {
  const QString low = lowName(loaded.scan);
  if (segment.referenceCrossings.empty() && segment.candidateCrossings.empty() && segment.disagreement.empty() && segment.referenceNoDecision.empty() && segment.candidateNoDecision.empty() && !loaded.points.empty()) {
    const PairAtPoint& any = loaded.points.front()->at;
    return {QStringLiteral("No boundary between %1 and %2: %3 all the way").arg(sampleText(loaded.scan, 0), sampleText(loaded.scan, 1), verdictText(loaded, any))};
  }
  QStringList lines{QStringLiteral("%1; %2").arg(crossingsText(loaded, segment.referenceCrossings, QStringLiteral("FP32")), crossingsText(loaded, segment.candidateCrossings, low)), disagreementText(segment)};
  for (const session::Flicker& flicker : segment.flicker)
    lines << QStringLiteral("%1 flickers from t = %2 to %3: %4 changes, FP32 has %5 there").arg(low, timeText(static_cast<double>(flicker.at.from)), timeText(static_cast<double>(flicker.at.to)), qt(groupedInteger(flicker.changes)), qt(groupedInteger(flicker.referenceChanges)));
  for (const auto& [run, list] : {std::pair{QStringLiteral("FP32"), &segment.referenceNoDecision}, {low, &segment.candidateNoDecision}})
    if (!list->empty()) lines << QStringLiteral("%1 has no decision (NaN) in %2, first from t = %3 to %4").arg(run, count(list->size(), "piece"), timeText(static_cast<double>(list->front().from)), timeText(static_cast<double>(list->front().to)));
  return lines;
}

QStringList nearHeadline(const LoadedScan& loaded, const session::NearScan& near) {
  const QString low = lowName(loaded.scan);
  std::int64_t tried = 0, nearer = 0, both = 0, lost = 0;
  for (const session::NearSample& sample : near.samples) {
    tried += sample.skipped.empty() ? 1 : 0;
    const bool hasBoth = sample.reference.isBoundary() && sample.candidate.isBoundary();
    both += hasBoth ? 1 : 0;
    nearer += hasBoth && sample.candidate.step < sample.reference.step ? 1 : 0;
    lost += sample.candidate.found && !sample.candidate.isBoundary() ? 1 : 0;
  }
  QStringList lines{QStringLiteral("%1 of %2 of the set are decided within the error of %3").arg(qt(groupedInteger(near.within())), count(near.curve.size(), "sample"), low)};
  if (near.undecided() > 0) lines << QStringLiteral("No decision (NaN) in a run for %1").arg(qt(counted(near.undecided(), "sample")));
  if (lost > 0) lines << QStringLiteral("%1 loses its decision to NaN on the way from %2").arg(low, qt(counted(lost, "sample")));
  if (tried > 0)
    lines << QStringLiteral("Boundary found for both runs from %1 of %2; %3's is the nearer one from %4").arg(qt(groupedInteger(both)), qt(counted(tried, "sample")), low, qt(groupedInteger(nearer)));
  return lines;
}

QStringList planeHeadline(const LoadedScan& loaded, const session::PlaneScan& plane) {
  QString text = QStringLiteral("%1 of %2 points flip (%3 %)").arg(qt(groupedInteger(plane.flips)), qt(groupedInteger(plane.decided)), number(100 * plane.flipShare()));
  if (plane.flipsWithinNoise > 0) text += QStringLiteral("; %1 of them within FP32's own noise").arg(qt(groupedInteger(plane.flipsWithinNoise)));
  const auto undecided = static_cast<std::int64_t>(plane.points.size()) - plane.decided;
  QStringList lines{text};
  if (undecided > 0) lines << QStringLiteral("%1 have no decision (NaN) in a run").arg(qt(counted(undecided, "point")));
  lines << QStringLiteral("%1 and %2 stand at %3° seen from %4; the map draws them at a right angle").arg(sampleText(loaded.scan, 1), sampleText(loaded.scan, 2), number(plane.angleDegrees), sampleText(loaded.scan, 0));
  return lines;
}

QString noiseText(const Scan& scan) {
  if (scan.kind == session::ScanKind::near) return {};
  if (!scan.noise.skipped.empty()) return QStringLiteral("FP32 noise not measured: %1").arg(qt(scan.noise.skipped));
  return QStringLiteral("FP32 noise up to %1").arg(number(scan.noise.maxError));
}

QString movesText(const Scan& scan) {
  QStringList moves, kept;
  for (const session::ScannedInput& input : scan.inputs) (input.moves ? moves : kept) << qt(input.name);
  QString text = QStringLiteral("moves: %1").arg(moves.join(QStringLiteral(", ")));
  if (!kept.isEmpty()) text += QStringLiteral("; kept: %1").arg(kept.join(QStringLiteral(", ")));
  return text;
}

}  // namespace

ScanPointer makeLoadedScan(std::shared_ptr<const session::Session> session, Scan scan) {
  auto loaded = std::make_shared<LoadedScan>(LoadedScan{std::move(session), std::move(scan), {}});
  if (loaded->scan.segment) loaded->points = render::pointsByTime(*loaded->scan.segment);
  return loaded;
}

QString decisionText(const LoadedScan& loaded, int decision) { return qt(session::decisionName(loaded.scan, decision, loaded.session->samples.classNames)); }

QString classText(const LoadedScan& loaded, std::size_t shownClass) {
  if (loaded.scan.settings.decision.kind == session::DecisionRule::Kind::threshold) return QStringLiteral("score");
  return qt(loaded.session->className(loaded.scan.classes[shownClass]));
}

QString lowName(const Scan& scan) { return scan.settings.autocast == base::DType::bfloat16 ? QStringLiteral("AMP BF16") : QStringLiteral("AMP FP16"); }

QString scanRegions(const Scan& scan) {
  QStringList parts;
  if (!scan.settings.fp32.empty()) parts << QStringLiteral("%1 in FP32").arg(shortList(scan.settings.fp32, 3));
  if (!scan.settings.disable.empty()) parts << QStringLiteral("autocast off in %1").arg(shortList(scan.settings.disable, 3));
  return parts.join(QStringLiteral(", "));
}

int decisionOfClass(const Scan& scan, std::int64_t shownClass) {
  if (scan.settings.decision.kind == session::DecisionRule::Kind::topk || !scan.settings.decision.hasClasses()) return session::kNoDecision;
  for (std::size_t i = 0; i < scan.decisions.size(); ++i)
    if (const session::ScanDecision& d = scan.decisions[i]; d.count == 1 && !d.tied && d.values.size() == 1 && d.values.front() == shownClass) return static_cast<int>(i);
  return session::kNoDecision;
}

int decisionIn(const LoadedScan& other, const LoadedScan& own, int decision) {
  if (decision < 0) return decision;
  const auto& list = other.scan.decisions;
  const auto found = std::find(list.begin(), list.end(), own.scan.decisions[static_cast<std::size_t>(decision)]);
  return found == list.end() ? static_cast<int>(list.size()) : static_cast<int>(found - list.begin());
}

bool areComparable(const Scan& a, const Scan& b) {
  return a.kind == b.kind && a.sampleIds == b.sampleIds && a.settings.decision.text() == b.settings.decision.text() && a.settings.decisionOutput == b.settings.decisionOutput && a.settings.tie == b.settings.tie;
}

QStringList scanHeadline(const LoadedScan& loaded) {
  if (loaded.scan.segment) return segmentHeadline(loaded, *loaded.scan.segment);
  if (loaded.scan.near) return nearHeadline(loaded, *loaded.scan.near);
  return loaded.scan.plane ? planeHeadline(loaded, *loaded.scan.plane) : QStringList();
}

QString scanConditions(const LoadedScan& loaded) {
  const Scan& scan = loaded.scan;
  QStringList parts;
  if (scan.segment) parts << QStringLiteral("%1 and %2 closer looks").arg(count(scan.segment->samples.size(), "grid point"), qt(groupedInteger(static_cast<std::int64_t>(scan.segment->refined.size()))));
  if (scan.near) parts << QStringLiteral("steps up to %1 × the input's norm, each %2 × the one before").arg(number(scan.near->limit), number(scan.near->growth));
  if (scan.plane) parts << QStringLiteral("%1 × %1 points").arg(scan.plane->side);
  const QString regions = scanRegions(scan), noise = noiseText(scan);
  if (!noise.isEmpty()) parts << noise;
  parts << (regions.isEmpty() ? QStringLiteral("no FP32 regions") : regions) << QStringLiteral("batches of %1, padded").arg(scan.settings.batchSize) << QStringLiteral("policy %1").arg(qt(scan.policyTable)) << movesText(scan);
  return parts.join(QStringLiteral("  ·  "));
}

QString timeText(double t) { return qt(exactNumber(t)); }

QString verdictText(const LoadedScan& loaded, const PairAtPoint& point) {
  if (point.reference == session::kNoDecision && point.candidate == session::kNoDecision) return QStringLiteral("neither run decides (NaN)");
  if (point.reference == point.candidate) return QStringLiteral("both runs decide %1").arg(decisionText(loaded, point.reference));
  const QString text = QStringLiteral("FP32: %1, %2: %3").arg(decisionText(loaded, point.reference), lowName(loaded.scan), decisionText(loaded, point.candidate));
  return point.differs() && point.withinNoise ? text + QStringLiteral(" (within FP32's noise)") : text;
}

QString pointText(const LoadedScan& loaded, const PairAtPoint& point) {
  const QString low = lowName(loaded.scan);
  QStringList lines{verdictText(loaded, point), QStringLiteral("margin FP32 %1, %2 %3").arg(qt(exactNumber(point.referenceMargin)), low, qt(exactNumber(point.candidateMargin))),
                    QStringLiteral("largest error %1").arg(qt(exactNumber(point.maxError)))};
  if (!std::isnan(point.noiseError)) lines << QStringLiteral("FP32's noise %1").arg(qt(exactNumber(point.noiseError)));
  for (std::size_t i = 0; i < point.referenceScores.size() && i < point.candidateScores.size() && i < loaded.scan.classes.size(); ++i)
    lines << QStringLiteral("%1: FP32 %2, %3 %4").arg(classText(loaded, i), qt(exactNumber(point.referenceScores[i])), low, qt(exactNumber(point.candidateScores[i])));
  return lines.join(u'\n');
}

}  // namespace ulpscope::models
