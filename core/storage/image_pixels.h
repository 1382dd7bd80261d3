// Private: images as 8-bit pixels.
#pragma once

#include "core/storage/image_preprocessing.h"

#include <string_view>

namespace ulpscope::storage {

inline constexpr std::int64_t kMostPixels = 100'000'000;  // of one image, before and after resizing

// Row-major, channels of a pixel side by side: grey, or red, green, blue.
struct Pixels {
  ImageSize size;
  int channels = 3;
  std::vector<std::uint8_t> bytes;
};

struct ImageHeader {
  ImageSize size;
  int orientation = 1;  // EXIF's, 1 to 8; 1: as it is
};

struct DecodedImage {
  Pixels pixels;
  int orientation = 1;
};

// PNG (libpng) or JPEG (libjpeg) by content. Transparency is dropped, colour profiles and gamma are ignored, palettes and fewer bits become 8
// bits a channel, as Pillow's convert("RGB") does. Error kind input, naming `place`: neither of the two, damaged or cut short anywhere, more than
// 8 bits a channel, CMYK, more than kMostPixels.
base::Result<ImageHeader> readImageHeader(std::string_view file, const std::string& place);
base::Result<DecodedImage> decodeImage(std::string_view file, const std::string& place);

// Grey as Pillow's convert("L"): (19595 R + 38470 G + 7471 B + 32768) / 65536. RGB of grey is three times the same.
Pixels withChannels(Pixels pixels, int channels);
// As EXIF's orientation asks; 1 to 8.
Pixels oriented(Pixels pixels, int orientation);
// Pillow's Image.resize for 8-bit images: each pass, across and then down, with coefficients of 22 fractional bits over the filter's support,
// widened by the scale where the image shrinks, rounded to 8 bits after each (Pillow, src/libImaging/Resample.c).
Pixels resized(const Pixels& pixels, ImageSize size, ImageResize::Filter filter);
// The middle; an offset of a half is rounded to even, as torchvision's center_crop. Precondition: size fits.
Pixels cropped(const Pixels& pixels, ImageSize size);

}  // namespace ulpscope::storage
