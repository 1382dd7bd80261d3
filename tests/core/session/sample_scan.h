// Scans with one of everything, for codecs, texts and stores.
#pragma once

#include "core/session/scan.h"

#include <limits>

namespace ulpscope::tests {

inline session::PairAtPoint pairAt(int reference, int candidate) {
  session::PairAtPoint pair;
  pair.reference = reference;
  pair.candidate = candidate;
  pair.referenceMargin = 0.25;
  pair.candidateMargin = reference == candidate ? 0.125 : std::numeric_limits<double>::infinity();
  pair.maxError = 0.5;
  pair.referenceScores = {1, std::numeric_limits<double>::quiet_NaN()};
  pair.candidateScores = {-std::numeric_limits<double>::infinity(), 2};
  return pair;
}

inline session::Scan sampleScan(session::ScanKind kind = session::ScanKind::segment) {
  session::Scan scan;
  scan.createdUtc = "2024-05-01T10:00:00Z";
  scan.kind = kind;
  scan.runId = "run_0002";
  scan.settings.decision = session::parseDecisionRule("argmax").value();
  scan.settings.decisionOutput = "output";
  scan.settings.fp32 = {"encoder"};
  scan.policyTable = "cuda@2.12";
  scan.libtorchVersion = "1.13.0";
  scan.inputs = {{"ids", "int64", false}, {"x", "float32", true}};
  scan.decisions = {{{4}, 1, false, ""}, {{9}, 1, false, ""}, {{9}, 1, true, ""}};
  scan.classes = {4, 9};
  scan.noise = {"", 2, 1e-7};
  scan.warnings = {"careful"};
  scan.elapsedSeconds = 1.5;
  scan.evaluations = 12;
  if (kind == session::ScanKind::segment) {
    scan.sampleIds = {"a", "b"};
    session::SegmentScan s;
    s.length = 2.5;
    s.samples = {{0.0F, pairAt(0, 0)}, {1.0F, pairAt(1, 2)}};
    s.refined = {{0.3F, pairAt(0, session::kNoDecision)}};
    s.referenceCrossings = {{0.5F, 0.49999997F, 0, 1}};
    s.candidateCrossings = {{0.501F, 0.50099993F, 0, 1}, {0.502F, 0.50199997F, 1, 2}};
    s.noiseCrossings = s.referenceCrossings;
    s.disagreement = {{{0.5F, 0.501F}, 1, 0, true}, {{0.75F, 1.0F}, 1, 0, false}};
    s.flicker = {{{0.501F, 0.502F}, 7, 1}};
    s.candidateNoDecision = {{0.3F, 0.4F}};
    s.closeLooks = {{{0.49F, 0.51F}, 257}};
    scan.segment = s;
  } else if (kind == session::ScanKind::near) {
    session::NearScan n;
    session::NearSample near;
    near.id = "a";
    near.at = pairAt(0, 0);
    near.norm = 4;
    near.gradientNorm = 0.5;
    near.limit = 4;
    near.reference = {true, 1.0, 0.25, 1};
    session::NearSample skipped;
    skipped.id = "b";
    skipped.at = pairAt(0, 1);
    skipped.skipped = "the margin's gradient is zero there";
    n.samples = {near, skipped};
    n.curve = {{"b", 0.25, 1, true}, {"a", 3, 1, false}, {"c", std::numeric_limits<double>::quiet_NaN(), 1, false}};
    scan.near = n;
  } else {
    scan.sampleIds = {"a", "b", "c"};
    session::PlaneScan p;
    p.side = 2;
    p.lengthAB = 1;
    p.lengthAC = 2;
    p.angleDegrees = 90;
    p.points = {pairAt(0, 0), pairAt(0, 1), pairAt(1, 1), pairAt(1, session::kNoDecision)};
    p.decided = 3;
    p.flips = 1;
    scan.plane = p;
  }
  return scan;
}

}  // namespace ulpscope::tests
