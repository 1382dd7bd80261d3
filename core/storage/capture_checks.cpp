#include "core/storage/capture_checks.h"

#include "core/storage/capture_types.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ulpscope::storage {

std::vector<RowRange> rowsWritten(const h5::Dataset& dataset, const std::string& name, std::int64_t rows) {
  if (!h5::hasAttribute(dataset, kRowsWritten)) return {{0, rows}};
  std::vector<RowRange> ranges;
  std::int64_t next = 0;
  for (const auto& range : h5::parsedJson(h5::readTextAttribute(dataset, kRowsWritten))) {
    const RowRange found{range.at(0).get<std::int64_t>(), range.at(1).get<std::int64_t>()};
    if (found.first < next || found.end <= found.first || found.end > rows) h5::fail("names rows that it has not", name + ", attribute rows_written", kDamagedFile);
    ranges.push_back(found);
    next = found.end;
  }
  return ranges;
}

void checkAgainstRecord(const session::SiteSummary& site, RunSide side, const CapturedBlock& block, const std::string& name) {
  if (block.batch > 0) return;  // later batches may have other shapes
  const base::DType recorded = side == RunSide::reference ? site.referenceDtype : site.candidateDtype;
  if (block.dtype != recorded) h5::fail("is " + base::name(block.dtype) + ", the record says " + base::name(recorded), name, kDamagedFile);
  const auto& shape = site.shape;
  const std::ptrdiff_t skipped = block.batch < 0 ? 1 : 0;
  if (block.shape.size() != shape.size() || !std::equal(shape.begin() + skipped, shape.end(), block.shape.begin() + skipped))
    h5::fail("has another shape than the record says", name, kDamagedFile);
}

}  // namespace ulpscope::storage
