// The order in which a heatmap's x axis shows the samples.
#pragma once

#include "core/render/heatmap_data.h"
#include "core/session/session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::render {

// byError: the worst over all rows; byRowError: in one row.
enum class SampleOrder { asGiven, byId, byReferenceMargin, byError, byRowError, byKind };
const std::vector<SampleOrder>& sampleOrders();
std::string label(SampleOrder order);  // "FP32 margin"
// For axes: "by FP32 margin, smallest first".
std::string description(SampleOrder order);
// Why the order cannot be had; empty: it can.
std::string unavailable(SampleOrder order, const session::Session& session, const session::RunRecord& run);

// Samples of one kind that stand side by side.
struct SampleGroup {
  std::string name;  // "edge"
  std::int64_t first = 0, count = 0;  // columns
};

// columns[i] is the sample shown at column i. groups: of the order by kind, else empty.
struct SampleColumns {
  std::vector<std::int64_t> columns;
  std::vector<SampleGroup> groups;
};

// What samples are ordered by. `data` is the heatmap shown, for the orders by error; `row` the one of byRowError (-1: as given).
struct SampleSource {
  const session::Session& session;
  const session::RunRecord& run;
  const HeatmapData& data;
  std::int64_t row = -1;
};
// Equal ones stay as given; a sample without a margin, an error or a kind goes last. An order that cannot be had is asGiven.
SampleColumns sampleColumns(const SampleSource& source, SampleOrder order);

// "img2" before "img10": runs of digits compare as numbers.
bool naturallyLess(const std::string& a, const std::string& b);

}  // namespace ulpscope::render
