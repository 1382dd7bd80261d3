// One op site's numbers over all samples.
#pragma once

#include "core/base/dtype.h"
#include "core/session/metric.h"
#include "core/session/site_operands.h"

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
std::optional<NonfiniteRole> nonfiniteRoleFromName(const std::string& name);

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
  MetricValues values;                // the worst over samples of each; all NaN for a view and where nothing was compared
  std::int64_t worstSample = -1;      // of relL2; -1: none
  std::int64_t elements = 0;          // compared, over all samples
  std::int64_t elementsOverTolerance = 0;
  std::int64_t differingElements = 0;  // integer and bool outputs
  NonfiniteCounts candidateOnly;       // non-finite in the candidate, not the same kind in the reference
  NonfiniteCounts candidate;           // in the candidate
  NonfiniteCounts reference;           // in the reference
  NonfiniteRole role = NonfiniteRole::none;
  // Relative L2 of FP32 against FP32 with other sample order and thread count: what autocast is not to blame for. First batch.
  std::optional<double> noiseFloorRelL2;
  // Relative L2 of each run against a run in float64, worst sample; empty: there was no such run.
  std::optional<double> referenceErrorToFp64, candidateErrorToFp64;
  // Empty: not recorded (a run of an older Ulpscope, or a site that the first batch did not reach).
  std::optional<SiteOperands> operands;
};

// "encoder.0.fc2: aten::linear", root as "(root)".
std::string siteLabel(const SiteSummary& site);

// The pattern that names what such a label shows: "head: aten::linear#2" is "head:aten::linear#2", "(root)" is "."; patterns are left alone.
std::string patternOfLabel(std::string text);

// Site tolerance of the low format: what "over tolerance" means (torch.testing's defaults for that dtype).
struct SiteTolerance {
  double rtol;
  double atol;
};
SiteTolerance siteTolerance(base::DType low);  // float16: 1e-3, 1e-5; bfloat16: 1.6e-2, 1e-5

nlohmann::json toJson(const SiteSummary& site);  // a metric that was not evaluated is null

}  // namespace ulpscope::session
