// Why an op made the first non-finite value, and the sentence that says so.
#pragma once

#include "core/analysis/tensor_view.h"
#include "core/session/run_record.h"

#include <string>
#include <vector>

namespace ulpscope::analysis {

// One tensor operand of the op, as the candidate got it before the policy cast it.
struct OperandFacts {
  std::string name;
  base::DType dtype = base::DType::float32;  // on arrival
  base::DType castTo = base::DType::float32;  // what the policy made of it
  RangeSummary candidate;  // over the samples concerned
  std::int64_t referenceZeros = 0;
};

struct OriginFacts {
  std::string op;  // "aten::div"
  std::string modulePath;
  base::DType low = base::DType::float16;  // the policy's low format
  session::NonfiniteCounts counts;
  RangeSummary referenceThere;             // the reference's values at the same places
  std::vector<OperandFacts> operands;
  std::vector<std::string> sampleIds;
  bool wholeBatch = false;
};

// In this order: "overflow in the cast of operand 'w'" (a finite operand of magnitude >= the format's overflow threshold is
// cast down), "division by an underflowed zero" / "log of an underflowed zero" (the candidate's operand has zeros that the
// reference's has not), "overflow" (an infinity where the reference's magnitude reaches the threshold: 65520 for
// float16, 2^128 - 2^119 for bfloat16), "invalid operation" (only NaN from finite operands), "infinite result".
std::string causeOf(const OriginFacts& facts);

// "encoder.38.mlp.fc2 overflows: |x| = 81,920 > 65,504 in samples 142, 17"
std::string diagnosisOf(const OriginFacts& facts, const std::string& cause);

// "sample 17", "samples 142, 17", "samples 1, 2, 3 and 9 more", "the batch (samples not told apart)".
std::string samplesText(const std::vector<std::string>& ids, bool wholeBatch);

}  // namespace ulpscope::analysis
