#include "core/render/png.h"

#include "core/base/error.h"

#include <png.h>

namespace ulpscope::render {
namespace {

bool isOpaque(const std::vector<std::uint8_t>& rgba) {
  for (std::size_t i = 3; i < rgba.size(); i += 4)
    if (rgba[i] != 255) return false;
  return true;
}

std::vector<std::uint8_t> withoutAlpha(const std::vector<std::uint8_t>& rgba) {
  std::vector<std::uint8_t> rgb;
  rgb.reserve(rgba.size() / 4 * 3);
  for (std::size_t i = 0; i < rgba.size(); i += 4) rgb.insert(rgb.end(), {rgba[i], rgba[i + 1], rgba[i + 2]});
  return rgb;
}

}  // namespace

std::string pngOf(int width, int height, const std::vector<std::uint8_t>& rgba) {
  if (width <= 0 || height <= 0) return "";
  ULPSCOPE_CHECK(rgba.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
  const bool opaque = isOpaque(rgba);
  const std::vector<std::uint8_t> pixels = opaque ? withoutAlpha(rgba) : rgba;
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = opaque ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = file.size();
  ULPSCOPE_CHECK(png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr) != 0);
  file.resize(size);
  return file;
}

}  // namespace ulpscope::render
