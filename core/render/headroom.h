// How close the largest values of op sites are to the end of the low format, and their smallest to its beginning.
#pragma once

#include "core/session/run_record.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::render {

// notMeasured: no floating values, a view, or nothing finite. beyond: the reference exceeds the low format, but the op's result is of a
// wider type in the candidate. overflow: the candidate has infinities that the reference has not, or the reference exceeds the format
// that the candidate's result is of. tight: less than 1 bit (a factor of 2) is left.
enum class HeadroomState { notMeasured, ample, tight, beyond, overflow };
HeadroomState headroomState(const session::SiteSummary& site, base::DType low);
std::string label(HeadroomState state);  // "overflows", "less than 1 bit", "beyond, but not in low precision", ...

struct HeadroomSite {
  std::int64_t site = -1;  // index into RunRecord::sites
  HeadroomState state = HeadroomState::ample;
  double referenceMax = 0, candidateMax = 0;  // max |x|; NaN: none finite
  double referenceSmallest = 0, candidateSmallest = 0;  // smallest non-zero |x|; NaN: none
  double bits = 0;  // log2(largest finite value of the low format / referenceMax); NaN: not measured
};
// In execution order, without the sites that have nothing to measure.
std::vector<HeadroomSite> headroomSites(const session::RunRecord& run);
// Of another run of the same model: max |x| of its candidate at each of `sites`; NaN where it has no such site.
std::vector<double> candidateMaxima(const session::RunRecord& run, const std::vector<HeadroomSite>& sites, const session::RunRecord& other);

// log10 positions that hold the values, and those limits of the low format that are within four decades of one; but none further down
// than a decade below the format's smallest subnormal, where nothing can be told apart any more.
struct HeadroomAxis {
  double low = -8, high = 5;  // log10
  // Sites of which a magnitude that is not 0 lies below `low`, and sites of zeros alone in one run or both: to be said, not left out.
  std::int64_t below = 0, zeros = 0;
};
bool isBelow(const HeadroomSite& site, const HeadroomAxis& axis);  // a magnitude other than 0 lies below the axis
bool isZeros(const HeadroomSite& site);                            // all zeros, in one run at least
HeadroomAxis headroomAxis(const std::vector<HeadroomSite>& sites, base::DType low);

}  // namespace ulpscope::render
