// A report as one self-contained page: XHTML that any browser shows without network or script, light and dark, on screen and on paper.
#pragma once

#include "core/report/report_document.h"

#include <string>

namespace ulpscope::report {

std::string reportHtml(const Document& document);
// The first bytes of every page made here: by them a later one knows that it may take its place.
inline constexpr const char* kHtmlMark = "<!-- Ulpscope report -->";

}  // namespace ulpscope::report
