// Private: libpng and libjpeg, which end by longjmp, each behind a function that does not.
#pragma once

#include "core/storage/image_pixels.h"

namespace ulpscope::storage {

// What went wrong, in the library's words or ours; empty: nothing.
struct CodecResult {
  ImageHeader header;
  Pixels pixels;  // unless the header alone was asked for
  std::string fault;
};
enum class Want { header, pixels };

CodecResult readPng(std::string_view file, Want want);
CodecResult readJpeg(std::string_view file, Want want);

// Sides of 1 to 65535 and at most kMostPixels; else what is wrong.
std::string sizeFault(std::uint64_t height, std::uint64_t width);
// Orientation in a TIFF header with its first directory (EXIF 2.3, 4.6.4); 1 where it says none or nothing sensible.
int orientationIn(std::string_view tiff);

}  // namespace ulpscope::storage
