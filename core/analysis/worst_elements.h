// The elements in which two tensors differ most.
#pragma once

#include "core/analysis/element_pairs.h"

namespace ulpscope::analysis {

enum class WorstBy { difference, ulp };

struct WorstElement {
  std::int64_t element = 0;  // row-major
  ElementPair pair;
  std::int64_t ulps = -1;    // between the roundings into the low format; -1: NaN or inf in a run, or not floating
  bool nonfiniteInOne = false;
};

struct WorstElements {
  // Non-finite in one run only first, in order of their numbers; then by |difference| or by ULP, larger first, equal ones in order of
  // their numbers. Elements that do not differ (by ULP: whose roundings are the same) are not among them, nor the same non-finite in both.
  std::vector<WorstElement> elements;
  std::int64_t differing = 0;       // of all elements: another value, or nonfiniteInOne
  std::int64_t nonfiniteInOne = 0;
  double maxDifference = 0;         // largest finite |difference|; NaN: no pair is finite in both
};

struct WorstOrder {
  WorstBy by = WorstBy::difference;
  base::DType low = base::DType::float16;  // float16 or bfloat16: whose ULPs
  std::size_t most = 50;
};
// Preconditions: both contiguous and of the same shape. Integers, bools and complex numbers have no ULPs: by them none but the
// non-finite is listed.
WorstElements worstElements(const ReferenceView& reference, const CandidateView& candidate, const WorstOrder& order);

}  // namespace ulpscope::analysis
