// How the columns of a printed table share its width.
#pragma once

#include <vector>

namespace ulpscope::plots {

struct ColumnNeed {
  double least = 0;   // of its longest word
  double wanted = 0;  // without a line break; not below least
};
// As many widths, `room` altogether: each its least and a part of the rest by what it wants beyond; where all wants fit, these and a part of the rest
// by size. Less than the least only where these do not fit together.
std::vector<double> columnWidths(const std::vector<ColumnNeed>& columns, double room);

}  // namespace ulpscope::plots
