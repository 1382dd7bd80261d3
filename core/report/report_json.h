// A report for programs: everything that the page says, under keys that stand. Schema: resources/schema/report.schema.json.
#pragma once

#include "core/report/report_content.h"
#include "core/report/report_document.h"

#include <string>

namespace ulpscope::report {

// `document`: of the same content; its language is that of the texts ("summary", "notices", ...), keys and numbers have none. One line a key.
std::string reportJson(const ReportContent& content, const Document& document);
inline constexpr const char* kJsonMark = "{\n\"format\": \"ulpscope-report\"";

}  // namespace ulpscope::report
