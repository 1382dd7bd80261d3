// What one run found: the candidate (autocast) against the reference (FP32) on the same inputs.
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/session/settings.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::session {

struct NonfiniteCounts {
  std::int64_t nan = 0;
  std::int64_t plusInf = 0;
  std::int64_t minusInf = 0;
  std::int64_t total() const { return nan + plusInf + minusInf; }
};

// Smallest and largest finite value and largest finite magnitude; NaN where there was no finite element.
struct ValueRange {
  double min = 0;
  double max = 0;
  double maxAbs = 0;
};

// How an op's non-finite elements (those that the reference does not have at the same place) came about.
enum class NonfiniteRole { none, origin, consequence };
std::string name(NonfiniteRole role);  // "none", "origin", "consequence"

// Where samples lie in an output: along `axis`; folded: that axis is batch x n (sampleMajor, "[B*H, ..]") or
// n x batch ("[H*B, ..]").
struct SampleAxis {
  enum class Kind { wholeBatch, plain, sampleMajor, sampleMinor } kind = Kind::wholeBatch;
  int axis = 0;
  std::string text() const;  // "whole_batch", "0", "1", "0:batch*n", "0:n*batch"
  static SampleAxis fromText(const std::string& text);
};

// One op site (n-th occurrence of an op in a module during one forward), over all samples.
struct SiteSummary {
  std::string modulePath;
  std::string op;        // "aten::linear"
  std::string overload;  // "" or "Tensor"
  std::string source;    // "model.py:12", may be empty
  int occurrence = 1;    // 1-based: n-th time of this op at this source in this module in one forward
  int output = 0;        // which output of the op
  base::DType referenceDtype = base::DType::float32;
  base::DType candidateDtype = base::DType::float32;
  std::string policyClass;            // as in model::StaticOp, after FP32 regions ("off" inside one)
  std::vector<std::int64_t> shape;    // of the first batch
  std::string sampleAxis;             // SampleAxis::text()
  std::string viewOf;                 // not empty: output aliases an input; no metrics of its own
  // Worst over samples; elements that are finite in both runs. NaN where nothing was compared.
  double maxAbs = 0;
  double relL2 = 0;
  double referenceMaxAbs = 0;         // finite elements
  double candidateMaxAbs = 0;
  std::int64_t worstSample = -1;      // of relL2; -1: none
  std::int64_t elementsOverTolerance = 0;
  std::int64_t differingElements = 0;  // integer and bool outputs
  NonfiniteCounts candidateOnly;       // non-finite in the candidate, not the same kind in the reference
  NonfiniteCounts reference;           // in the reference
  NonfiniteRole role = NonfiniteRole::none;
  std::optional<double> maxUlp;
  std::optional<double> introducedRelL2;
  // log2(max finite of the low format / max|x| of the reference); empty for non-floating outputs.
  std::optional<double> headroomBits;
};

// "encoder.0.fc2: aten::linear", root as "(root)".
std::string siteLabel(const SiteSummary& site);

struct OutputSummary {
  std::string name;
  std::vector<std::int64_t> shape;  // all samples
  base::DType dtype = base::DType::float32;  // candidate's
  std::optional<double> maxAbs, maxRel, relL2, cosineDistance, maxUlp;  // empty: not floating, or nothing compared
};

struct OperandRange {
  std::string name;  // the argument's name in the op's schema
  base::DType dtype = base::DType::float32;
  ValueRange range;
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
};

struct ScoredClass {
  std::int64_t index = 0;
  std::string name;  // empty without class names
  double score = 0;
};

// Decisions are class indices, one a position (one in all for a plain classifier).
struct Flip {
  std::string sampleId;
  std::int64_t sample = -1;
  std::int64_t referenceDecision = -1;  // at the first flipped position
  std::int64_t candidateDecision = -1;
  double referenceMargin = 0;
  double candidateMargin = 0;
  std::string kind;                     // "changed", "tie made", "tie broken"
  std::string effect;                   // "regressed", "fixed", "wrong to wrong"; empty without labels
  std::vector<std::int64_t> positions;  // flipped positions, row-major within the sample; empty: one decision a sample
  std::vector<ScoredClass> referenceTop;  // two best
  std::vector<ScoredClass> candidateTop;
  std::int64_t firstSiteOverTolerance = -1;  // index into RunRecord::sites; -1: none
};

// One sample's decision in both runs, flipped or not: what margin plots and sample orders are made of.
struct SampleDecision {
  double referenceMargin = 0;  // NaN: no decision
  double candidateMargin = 0;
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
  std::vector<OutputSummary> outputs;
  std::vector<NonfiniteFinding> nonfiniteOrigins;     // in execution order; the first is "the first non-finite"
  std::vector<NonfiniteFinding> referenceNonfinite;
  std::int64_t consequenceSites = 0;
  std::optional<CandidateError> candidateError;
  std::vector<ControlFlowFinding> controlFlow;
  std::vector<Flip> flips;
  std::vector<SampleDecision> decisions;  // one a sample; empty with decision none
  std::vector<std::string> noDecision;    // sample ids whose candidate scores are NaN

  std::string id() const;  // "run_0001"
};

// Site tolerance of the low format: what "over tolerance" means (torch.testing's defaults for that dtype).
struct SiteTolerance {
  double rtol;
  double atol;
};
SiteTolerance siteTolerance(base::DType low);  // float16: 1e-3, 1e-5; bfloat16: 1.6e-2, 1e-5

// Everything of a run but its sites, with the key names of the run document where it has them.
nlohmann::json toJson(const RunRecord& run);
nlohmann::json toJson(const SiteSummary& site);
base::Result<SiteSummary> siteFromJson(const nlohmann::json& json);
// The reverse of both; sites come apart since they are stored as columns.
base::Result<RunRecord> runFromJson(const nlohmann::json& json, std::vector<SiteSummary> sites);

}  // namespace ulpscope::session
