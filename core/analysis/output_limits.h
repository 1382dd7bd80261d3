// One output against one limit. Private to core/analysis.
#pragma once

#include "core/analysis/verdict.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ulpscope::analysis {

struct OutputMeasure {
  double value = 0;          // NaN: nothing to compare
  std::int64_t sample = -1;  // of the worst element or sample; -1: not known
  std::string note;          // "3 of 100 elements outside"
};
// kind tolerance, shareOutside or outputMetric.
OutputMeasure measureOutput(const JudgedOutput& output, const session::Criterion& criterion, base::DType low, std::size_t samples);

}  // namespace ulpscope::analysis
