// Private: what a captured dataset must be before its numbers are given out.
#pragma once

#include "core/storage/h5.h"
#include "core/storage/run_writer.h"

#include <string>
#include <vector>

namespace ulpscope::storage {

inline constexpr const char* kDamagedFile = "the file is damaged; restore it from a copy";

struct RowRange {
  std::int64_t first, end;
};
// All rows, or those that the attribute names; fails unless they are ascending, apart and within the dataset.
std::vector<RowRange> rowsWritten(const h5::Dataset& dataset, const std::string& name, std::int64_t rows);

// Fails where dtype or shape are not the record's. block: without its bytes; batch -1: the dataset of all batches.
void checkAgainstRecord(const session::SiteSummary& site, RunSide side, const CapturedBlock& block, const std::string& name);

}  // namespace ulpscope::storage
