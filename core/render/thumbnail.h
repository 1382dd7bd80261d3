// One sample's input as a small picture: pixels, a curve, or a few words.
#pragma once

#include "core/render/heatmap.h"
#include "core/storage/input_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::render {

struct ThumbnailSize {
  int width = 64, height = 64;  // at most
};

// Extremes of the elements that fall into one column, as shares of the sample's range (0 bottom, 1 top).
struct CurveColumn {
  float low = 0, high = 0;
  bool hasValue = false;    // a finite element; else low and high say nothing
  bool hasNonfinite = false;
};

struct Thumbnail {
  enum class Kind { none, image, curve, text } kind = Kind::none;
  int width = 0, height = 0;        // of an image
  std::vector<std::uint8_t> rgba;   // of an image: row-major, width * height * 4 bytes
  std::vector<CurveColumn> curve;
  std::string text;                 // numbers of a small integer vector, or a summary; lines
  std::string caption;              // "image: float32 [1, 8, 8], 0 to 1", with counts of NaN and inf
};

// What a tensor of one sample becomes:
//   image  [1|3, H, W] of any real dtype; [H, W] with H > 1 of floats or uint8
//   curve  [L], [1, L] or [L, 1] of floats with L > 1
//   text   integers and bools of up to two dimensions: the numbers; else shape, range and mean over the finite elements
// Values are stretched over the finite range of the sample (uint8 images: 0 to 255); a constant is middle grey, and its curve lies in the
// middle. A larger image is pooled: the mean of each channel over the finite elements of a block; a block with NaN or inf has that kind's
// colour (NaN, then +inf, then -inf wins), so that none vanishes. A longer curve keeps minimum and maximum of each column.
Thumbnail thumbnailOf(const storage::RawTensor& sample, ThumbnailSize most, Theme theme);
// Whether the dtype and shape of one sample give an image or a curve.
bool givesPicture(base::DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace ulpscope::render
