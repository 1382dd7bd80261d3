#include "core/storage/image_pixels.h"

#include "core/storage/image_codecs.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

Result<CodecResult> read(std::string_view file, const std::string& place, Want want) {
  CodecResult result;
  if (file.starts_with("\x89PNG\r\n\x1a\n")) result = readPng(file, want);
  else if (file.starts_with("\xff\xd8\xff")) result = readJpeg(file, want);
  else return Error{ErrorKind::input, "is neither PNG nor JPEG", place, "convert it, or move it out of the folder"};
  if (!result.fault.empty()) return Error{ErrorKind::input, result.fault, place, "replace it, or move it out of the folder"};
  return result;
}

class TiffBytes {
 public:
  explicit TiffBytes(std::string_view bytes) : m_bytes(bytes), m_isBig(bytes.starts_with("MM")) {}
  bool isTiff() const { return (m_isBig || m_bytes.starts_with("II")) && number(2, 2) == 42; }
  // 0 beyond the end.
  std::uint32_t number(std::uint64_t at, std::size_t count) const {
    std::uint32_t value = 0;
    if (at + count > m_bytes.size()) return 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(m_bytes[at + (m_isBig ? i : count - 1 - i)]);
    return value;
  }

 private:
  std::string_view m_bytes;
  bool m_isBig;
};

std::size_t pixelCount(ImageSize size) { return static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width); }

// Which pixel of the stored image (x, y) of the shown one is, as Pillow's ImageOps.exif_transpose.
std::pair<int, int> source(int orientation, int x, int y, ImageSize from) {
  const int right = from.width - 1, bottom = from.height - 1;
  switch (orientation) {
    case 2: return {right - x, y};
    case 3: return {right - x, bottom - y};
    case 4: return {x, bottom - y};
    case 5: return {y, x};
    case 6: return {y, bottom - x};
    case 7: return {right - y, bottom - x};
    case 8: return {right - y, x};
    default: return {x, y};
  }
}

}  // namespace

std::string sizeFault(std::uint64_t height, std::uint64_t width) {
  constexpr std::uint64_t kMostSide = 65535;
  if (height == 0 || width == 0) return "has no pixels";
  if (height <= kMostSide && width <= kMostSide && height * width <= static_cast<std::uint64_t>(kMostPixels)) return "";
  return fmt::format("has {} x {} pixels; at most {} are read", width, height, kMostPixels);
}

int orientationIn(std::string_view tiff) {
  constexpr std::uint32_t kOrientation = 0x0112, kEntryBytes = 12, kShort = 3;
  const TiffBytes bytes(tiff);
  if (!bytes.isTiff()) return 1;
  const std::uint64_t directory = bytes.number(4, 4);
  const std::uint32_t count = bytes.number(directory, 2);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t entry = directory + 2 + std::uint64_t{i} * kEntryBytes;
    if (bytes.number(entry, 2) != kOrientation || bytes.number(entry + 2, 2) != kShort) continue;
    const std::uint32_t value = bytes.number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Result<ImageHeader> readImageHeader(std::string_view file, const std::string& place) {
  const auto result = read(file, place, Want::header);
  if (!result) return result.error();
  return result->header;
}

Result<DecodedImage> decodeImage(std::string_view file, const std::string& place) {
  auto result = read(file, place, Want::pixels);
  if (!result) return result.error();
  return DecodedImage{std::move(result.value().pixels), result->header.orientation};
}

Pixels withChannels(Pixels pixels, int channels) {
  if (pixels.channels == channels) return pixels;
  Pixels result{pixels.size, channels, std::vector<std::uint8_t>(pixelCount(pixels.size) * static_cast<std::size_t>(channels))};
  for (std::size_t i = 0; i < pixelCount(pixels.size); ++i) {
    if (channels == 3) {
      for (std::size_t c = 0; c < 3; ++c) result.bytes[3 * i + c] = pixels.bytes[i];
    } else {
      const std::uint32_t red = pixels.bytes[3 * i], green = pixels.bytes[3 * i + 1], blue = pixels.bytes[3 * i + 2];
      result.bytes[i] = static_cast<std::uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
    }
  }
  return result;
}

Pixels oriented(Pixels pixels, int orientation) {
  if (orientation == 1) return pixels;
  const bool isTurned = orientation >= 5;
  const auto channels = static_cast<std::size_t>(pixels.channels), width = static_cast<std::size_t>(pixels.size.width);
  Pixels result{isTurned ? ImageSize{pixels.size.width, pixels.size.height} : pixels.size, pixels.channels, {}};
  result.bytes.reserve(pixels.bytes.size());
  for (int y = 0; y < result.size.height; ++y)
    for (int x = 0; x < result.size.width; ++x) {
      const auto [fromX, fromY] = source(orientation, x, y, pixels.size);
      const std::uint8_t* pixel = pixels.bytes.data() + (static_cast<std::size_t>(fromY) * width + static_cast<std::size_t>(fromX)) * channels;
      result.bytes.insert(result.bytes.end(), pixel, pixel + channels);
    }
  return result;
}

Pixels cropped(const Pixels& pixels, ImageSize size) {
  const auto offset = [](int whole, int part) { return static_cast<std::size_t>(std::nearbyint((whole - part) / 2.0)); };
  const auto channels = static_cast<std::size_t>(pixels.channels);
  const std::size_t top = offset(pixels.size.height, size.height), left = offset(pixels.size.width, size.width);
  Pixels result{size, pixels.channels, {}};
  for (std::size_t y = 0; y < static_cast<std::size_t>(size.height); ++y) {
    const std::uint8_t* row = pixels.bytes.data() + ((top + y) * static_cast<std::size_t>(pixels.size.width) + left) * channels;
    result.bytes.insert(result.bytes.end(), row, row + static_cast<std::size_t>(size.width) * channels);
  }
  return result;
}

}  // namespace ulpscope::storage
