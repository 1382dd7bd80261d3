// Pixels as a PNG file, by libpng.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::render {

// rgba: row-major, width * height * 4 bytes. The file's bytes; opaque pictures are stored without alpha. Empty for one without pixels.
std::string pngOf(int width, int height, const std::vector<std::uint8_t>& rgba);

}  // namespace ulpscope::render
