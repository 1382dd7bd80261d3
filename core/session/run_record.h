// What one run found: the candidate (autocast) against the reference (FP32) on the same inputs.
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/session/decisions.h"
#include "core/session/observation.h"
#include "core/session/settings.h"
#include "core/session/site_summary.h"
#include "core/session/verdict.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

struct OutputSummary {
  std::string name;
  std::vector<std::int64_t> shape;  // all samples
  std::string sampleAxis = "whole_batch";  // SampleAxis::text()
  base::DType dtype = base::DType::float32;  // candidate's
  std::optional<double> maxAbs, maxRel, relL2, cosineDistance, maxUlp;  // empty: not floating, or nothing compared
  std::int64_t elements = 0;
  std::int64_t differingElements = 0;  // whose values differ; all that there is to say of integers and bools
  NonfiniteCounts nonfinite{};         // in the candidate, where the reference has not the same kind
};

struct OperandRange {
  std::string name;  // the argument's name in the op's schema
  base::DType dtype = base::DType::float32;
  ValueRange range;
};

// The op that lost what the op with the non-finite result then missed.
struct RootCause {
  std::string op, modulePath, source;
  int occurrence = 1;
  std::string why;  // "its 0.9999 rounds to 1 in float16"
};

struct NonfiniteFinding {
  std::string stage;  // "input", "parameter", "intermediate", "output"
  std::int64_t site = -1;  // index into RunRecord::sites; -1: no site (an input, a parameter)
  std::string op, overload, modulePath, source;
  int occurrence = 1;
  std::vector<std::string> sampleIds;  // empty with wholeBatch: the samples could not be told apart
  bool wholeBatch = false;
  NonfiniteCounts counts;
  std::string cause;      // "overflow", "overflow in the cast of operand 'weight'", "invalid operation", "division by zero", ...
  std::vector<OperandRange> operands;  // candidate's operands as the op got them
  ValueRange reference;                // reference's values at the same places
  std::string diagnosis;               // one sentence to paste
  std::optional<RootCause> rootCause;  // empty: the op itself is to blame, or nothing else was found
  std::string explainedBy;             // of a reference's finding: the rule that calls it intended; empty: none
};

// The first op site, in execution order, at which the candidate has such a value where the reference has none, origin or not.
struct FirstValue {
  std::int64_t site = -1;
  std::vector<std::string> sampleIds;  // empty: the samples were not told apart
};

struct ControlFlowFinding {
  std::string modulePath, op, what;
};

struct CandidateError {
  std::string op, modulePath, message;
};

enum class RunStatus { ok, partial, cancelled };
std::string name(RunStatus status);

struct RunRecord {
  int number = 0;  // 1-based; "run_0001"
  std::string createdUtc;
  RunStatus status = RunStatus::ok;
  RunSettings settings;
  std::string libtorchVersion;
  std::string policyTable;  // resolved: "cuda@1.13"
  std::string probeCheck;   // "identical", "differs" or "" (not checked)
  std::int64_t samplesComplete = 0;
  double elapsedSeconds = 0;
  int threadsPerRun = 1;
  std::vector<std::string> warnings;
  std::vector<std::string> unresolvedCalls;
  std::string eagerCheck;  // "FP32 outputs agree with the saved eager outputs to 1.2e-7", empty: none saved
  std::vector<SiteSummary> sites;  // in execution order
  std::vector<ModuleOutput> moduleOutputs;  // in the order of the calls' ends
  std::vector<OutputSummary> outputs;
  std::vector<NonfiniteFinding> nonfiniteOrigins;     // in execution order; the first is "the first non-finite"
  std::vector<NonfiniteFinding> referenceNonfinite;
  std::int64_t consequenceSites = 0;
  std::optional<FirstValue> firstNan, firstInf;  // +inf or -inf
  std::optional<CandidateError> candidateError;
  std::vector<ControlFlowFinding> controlFlow;
  std::vector<Flip> flips;
  std::vector<SampleDecision> decisions;  // one a sample; empty with decision none
  std::vector<std::string> noDecision;    // sample ids whose candidate scores are NaN
  std::optional<Quality> quality;         // empty: no labels, or no decision that they fit
  std::optional<Regression> regression;   // with decision regression
  std::vector<std::string> nonfiniteSamples;  // sample ids whose candidate outputs are non-finite where the reference's are not
  std::optional<NoiseFloor> noiseFloor;   // empty: not asked for
  std::optional<Accumulation> accumulation;  // empty: not asked for, or nothing to compare
  std::optional<Capture> capture;         // empty: nothing was asked for
  std::optional<Verdict> verdict;         // empty: exploratory, no criteria were locked when it ran

  std::string id() const;  // "run_0001"
  bool ran(const std::string& sampleId) const;  // among the samples that this run was asked for
  // Of the reference's non-finite values the first that no rule explains: with one FP32 is no baseline. nullptr: none.
  const NonfiniteFinding* unexplained() const;
};

// Everything of a run but its sites, with the key names of the run document where it has them.
nlohmann::json toJson(const RunRecord& run);
// The reverse of both; sites come apart since they are stored as columns.
base::Result<RunRecord> runFromJson(const nlohmann::json& json, std::vector<SiteSummary> sites);

}  // namespace ulpscope::session
