// A drawing as an SVG element for an XHTML page, whose style sheet gives the inks their colours.
#pragma once

#include "core/render/drawing.h"

#include <string>

namespace ulpscope::render {

// `words` is what the picture says to those who do not see it. Colours are classes: "f-bad" fills, "s-bad" strokes; pixels of a dark page have the
// class "dark", where they differ from those of a light one, which have "light" then.
std::string svgOf(const Drawing& drawing, const std::string& words);

}  // namespace ulpscope::render
