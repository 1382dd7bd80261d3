// A report's tables for spreadsheets and scripts: RFC 4180 (CRLF, quotes where needed), UTF-8, a header row, '.' before decimals whatever the
// locale, and nan, inf, -inf as pandas and numpy read them. An empty cell was not evaluated. A text that a spreadsheet would take for a formula
// (= + - @, tab or return first) has an apostrophe put before it; numbers are never touched. Metrics have nine digits, report.json has all.
#pragma once

#include "core/report/report_content.h"

#include <string>

namespace ulpscope::report {

// One row an op site of the run; the header alone where there is no run, or it is covered.
std::string sitesCsv(const ReportContent& content);
// One row a flip, the worst first.
std::string flipsCsv(const ReportContent& content);
inline constexpr const char* kSitesHead = "run,site,module,op,";
inline constexpr const char* kFlipsHead = "run,sample_id,reference,candidate,";

}  // namespace ulpscope::report
