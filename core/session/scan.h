// What a scan found: where FP32 and autocast put the boundary between decisions, and how wide the strip is in which they disagree.
#pragma once

#include "core/session/decisions.h"
#include "core/session/scan_points.h"
#include "core/session/scan_request.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace ulpscope::session {

// The smallest step that was found at which a run does not decide as FP32 does at the sample. step: L2 norm of the change of all inputs that move;
// 0: not even at the sample.
struct NearestFlip {
  bool found = false;  // false: not up to NearScan's limit, at its resolution
  double step = std::numeric_limits<double>::quiet_NaN(), relative = std::numeric_limits<double>::quiet_NaN();  // relative: to the input's L2 norm
  int to = kNoDecision;  // kNoDecision: NaN
  bool isBoundary() const { return found && to != kNoDecision; }
};
struct NearSample {
  std::string id;
  PairAtPoint at;              // at the sample itself; without scores
  double norm = 0;             // L2 norm of its inputs that move
  double gradientNorm = 0;     // of the reference's margin; NaN, +inf: not finite
  std::string skipped = {};    // why no step was tried: "the margin has no gradient here"; empty: it was
  double limit = 0;            // the largest step
  NearestFlip reference, candidate;
  double linearStep() const { return at.referenceMargin / gradientNorm; }  // to the reference's boundary, if the margin were linear
};
// How near to deciding otherwise a sample is, against the precision's error.
struct DecidedWithin {
  std::string id;
  double margin = 0, bound = 0;  // the reference's; errorsToFlip * max|error|. NaN: no decision of FP32, or of either run
  bool flips = false;
  bool isDecided() const { return margin == margin && bound == bound; }
  bool withinError() const { return isDecided() && margin <= bound; }
};
struct NearScan {
  double limit = 1;                      // in parts of the norm
  double growth = 2;                     // between the steps that were tried: a decision that changes and changes back within it may be missed
  std::vector<NearSample> samples;
  std::vector<DecidedWithin> curve;      // the whole set, by margin, NaN last
  std::int64_t within() const;           // samples of the curve that are decided within the error
  std::int64_t undecided() const;        // that a run decides nothing for
};

// x(u, v) = A + u (B - A) + v (C - A) at u, v = lowest + i (highest - lowest) / (side - 1).
struct PlaneScan {
  std::int64_t side = 0;
  double lowest = 0, highest = 1;
  double lengthAB = 0, lengthAC = 0, angleDegrees = 0;  // of B - A and C - A
  std::vector<PairAtPoint> points;  // [side x side], v by v: points[v * side + u]
  std::int64_t decided = 0, flips = 0, flipsWithinNoise = 0;  // points with two decisions; of these differing
  double flipShare() const { return decided == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(flips) / static_cast<double>(decided); }
};

struct ScannedInput {
  std::string name;
  std::string dtype;   // empty: no tensor
  bool moves = false;  // false: the same in all samples of the scan, and kept
};

struct ScanNoise {
  std::string skipped;    // why there is none; empty: measured
  int threads = 0;
  double maxError = std::numeric_limits<double>::quiet_NaN();  // largest over the points
};

struct Scan {
  int number = 0;          // in its session, 1-based; 0: not stored
  std::string createdUtc;
  ScanKind kind = ScanKind::segment;
  std::vector<std::string> sampleIds;  // A, B (, C); near: those asked for, none: all
  std::string runId;       // whose settings these are
  RunSettings settings;    // all that held: regions, decision and its output, tie rule; batchSize: of every forward, padded by repeating its last point
  std::string policyTable, libtorchVersion;
  int threads = 1;         // a run
  std::vector<ScannedInput> inputs;
  std::vector<ScanDecision> decisions;
  std::vector<std::int64_t> classes;   // whose scores points have, ascending; at most kShownClasses: those that came first or second most often; threshold: 0 alone
  ScanNoise noise;
  std::vector<std::string> warnings;
  double elapsedSeconds = 0;
  std::int64_t evaluations = 0;        // inputs that each run was given, padding not counted
  std::optional<SegmentScan> segment;
  std::optional<NearScan> near;
  std::optional<PlaneScan> plane;
};

// "cat", "3", "above", "{1, 4}", "tie: 3"; "no decision" for kNoDecision.
std::string decisionName(const Scan& scan, int decision, const std::vector<std::string>& classNames);
// What a nearest flip says: "0.629", "beyond 12.5", "is 9 already" (at the sample), "NaN from 0.3 on", "NaN already".
std::string flipText(const Scan& scan, const NearestFlip& flip, double limit, const std::vector<std::string>& classNames);
// "4 -> 9: AMP FP16 crosses 0.0012 before FP32": what lists show of it.
std::string scanTitle(const Scan& scan);

// The keys of resources/schema/scan.schema.json, but for those of the document alone.
nlohmann::json toJson(const Scan& scan);
Scan scanFromJson(const nlohmann::json& json);  // throws nlohmann::json::exception; every index is within its list

// What `ulpscope scan --json` writes: the record with "schema", "status", "error" and "session".
nlohmann::json scanDocument(const Scan& scan, const std::string& sessionPath);
nlohmann::json scanErrorDocument(const base::Error& error);

}  // namespace ulpscope::session
