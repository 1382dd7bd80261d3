#include "sample_scan.h"

#include "core/storage/scan_store.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ulpscope::testing {
namespace {

using session::Crossing;
using session::PairAtPoint;
using session::Scan;

constexpr int kCat = 0, kDog = 1;

Scan head(session::ScanKind kind, const std::vector<std::string>& samples) {
  Scan scan;
  scan.createdUtc = "2026-01-31T15:00:00Z";
  scan.kind = kind;
  scan.sampleIds = samples;
  scan.runId = "run_0001";
  scan.settings.decision.kind = session::DecisionRule::Kind::argmax;
  scan.settings.batchSize = 8;
  scan.policyTable = "cuda@1.13";
  scan.libtorchVersion = "1.13.0";
  scan.inputs = {{"x", "float32", true}};
  scan.decisions = {{{0}}, {{1}}};
  scan.classes = {0, 1, 2};
  scan.noise = {"", 1, 1e-7};
  scan.elapsedSeconds = 0.5;
  return scan;
}

PairAtPoint pair(double cat, double dog, double more) {
  PairAtPoint p;
  p.referenceScores = {cat, dog, -1};
  p.candidateScores = {cat, dog + more, -1};
  p.reference = dog > cat ? kDog : kCat;
  p.candidate = dog + more > cat ? kDog : kCat;
  p.referenceMargin = std::fabs(cat - dog);
  p.candidateMargin = std::fabs(cat - dog - more);
  p.maxError = more;
  p.noiseError = 1e-7;
  return p;
}

Crossing crossing(float before) { return {std::nextafter(before, 1.0F), before, kCat, kDog}; }

}  // namespace

Scan sampleSegment(Regions regions) {
  Scan scan = head(session::ScanKind::segment, {"a", "b"});
  if (regions == Regions::head) scan.settings.fp32 = {"head"};
  const double more = regions == Regions::head ? 1.0 / 64 : 1.0 / 16;
  session::SegmentScan segment;
  segment.length = 4;
  const auto point = [more](float t) { return session::ScanPoint{t, pair(1 - static_cast<double>(t), static_cast<double>(t), more)}; };
  for (int i = 0; i <= 16; ++i) segment.samples.push_back(point(static_cast<float>(i) / 16));
  const Crossing reference = crossing(0.5F), candidate = crossing(regions == Regions::head ? 0.4921875F : 0.46875F);
  for (const float t : {candidate.before, candidate.t, reference.t}) segment.refined.push_back(point(t));
  segment.referenceCrossings = {reference};
  segment.candidateCrossings = {candidate};
  segment.noiseCrossings = {reference};
  segment.disagreement = {{{candidate.t, reference.t}, kCat, kDog, false}};
  segment.closeLooks = {{{0.4375F, 0.53125F}, 3}};
  scan.evaluations = 20;
  scan.segment = segment;
  return scan;
}

Scan samplePlane() {
  Scan scan = head(session::ScanKind::plane, {"a", "b", "c"});
  session::PlaneScan plane;
  plane.side = 9;
  plane.lengthAB = 4;
  plane.lengthAC = 5;
  plane.angleDegrees = 60;
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 9; ++i) {
      plane.points.push_back(pair(0.7, (i + j) / 8.0, 0.1));
      ++plane.decided;
      plane.flips += plane.points.back().differs() ? 1 : 0;
    }
  scan.plane = plane;
  return scan;
}

Scan sampleNear() {
  Scan scan = head(session::ScanKind::near, {"a", "b"});
  scan.noise = {"not measured around samples", 0, std::nan("")};
  session::NearScan near;
  near.samples.resize(2);
  near.samples[0] = {"a", pair(0.75, 0.25, 0.0625), 5, 0.25, "", 12.5, {true, 2, 0.4, kDog}, {true, 1, 0.2, kDog}};
  near.samples[1] = {"b", pair(1, 0, 0.0625), 12.5, 0.5, "", 12.5, {}, {}};
  for (session::NearSample& sample : near.samples) sample.at.referenceScores = sample.at.candidateScores = {};
  near.curve = {{"b", 0.01, 0.1, true}, {"d", 0.2, 0.3, false}, {"a", 0.5, 0.125, false}, {"c", std::nan(""), std::nan(""), false}};
  scan.near = near;
  return scan;
}

void addScans(const QString& path, const std::vector<Scan>& scans) {
  for (const Scan& scan : scans) {
    const auto session = storage::openSession(path.toStdString());
    ASSERT_TRUE(session.ok()) << session.error().message();
    const auto stored = storage::addScan(path.toStdString(), session.value(), scan);
    ASSERT_TRUE(stored.ok()) << stored.error().message();
  }
}

}  // namespace ulpscope::testing
