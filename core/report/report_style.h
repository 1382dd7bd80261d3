// Private: the style sheet of the page.
#pragma once

#include <string>

namespace ulpscope::report {

// Colours are the window's (core/render/drawing.h). No url(), no import.
std::string reportStyle();

}  // namespace ulpscope::report
