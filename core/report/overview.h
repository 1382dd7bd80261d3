// Private: the four rows that answer "may I release this?": finite, deviation, decision, quality. They always stand, with a reason where there is
// nothing to say.
#pragma once

#include "core/report/report_content.h"
#include "core/report/report_document.h"

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::report {

struct OverviewRow {
  std::string key;                         // "finite", "deviation", "decision", "quality"
  Text reference, candidate;
  std::vector<session::CriterionResult> criteria;  // of this row
  std::optional<session::JudgedAs> status;  // the worst of them; empty: no limit speaks of it, or nothing was judged
};

// Precondition: the content has a run and is not covered.
std::vector<OverviewRow> overview(const ReportContent& content, const Phrasebook& book);

// Samples with NaN or inf in an output or at an origin that the reference has not.
struct NonfiniteExtent {
  std::int64_t samples = 0;
  std::int64_t origins = 0;
  bool isWholeBatch = false;  // some were not told apart
};
NonfiniteExtent nonfiniteExtent(const session::RunRecord& run);

// The largest relative L2 error over the outputs; NaN: none was evaluated. hasInfinite outputs count by their finite values.
double worstOutput(const session::RunRecord& run);

// "1 of 64 (1.6 %, 95 % interval 0.0 % to 8.4 %)".
std::string rateSentence(const Phrasebook& book, std::int64_t count, std::int64_t total);

}  // namespace ulpscope::report
