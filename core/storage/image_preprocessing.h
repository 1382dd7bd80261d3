// Private: what is done to each image before forward sees it, as `preprocessing.json` in the folder states it:
//   {"resize": {"size": 256, "filter": "bilinear"}, "crop": [224, 224], "channels": "RGB", "divide": 255,
//    "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "layout": "NCHW", "dtype": "float32"}
// In this order: decode to 8 bits, exif_orientation ("apply" or "ignore"), channels (RGB, BGR, or grey: ITU-R 601-2 luma), resize (size: [height,
// width], or one number for the shorter side; bilinear or bicubic, with antialiasing), crop (of the middle), then in float32 (v / divide - mean) / std,
// then the dtype (float32, float16, bfloat16; uint8 keeps the pixels, without the last three). What is left out is not done; channels, layout
// (NCHW or NHWC), dtype and, of floats, divide must be said. `input` names forward's argument. These are torchvision's Resize, CenterCrop,
// ToTensor and Normalize on images of Pillow, bit for bit.
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

struct ImageSize {
  int height = 0, width = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

struct ImageResize {
  enum class Filter { bilinear, bicubic } filter = Filter::bilinear;
  ImageSize size;   // unless shorterSide
  int shorterSide = 0;
};

struct ImagePreprocessing {
  enum class Channels { rgb, bgr, grey } channels = Channels::rgb;
  enum class Layout { nchw, nhwc } layout = Layout::nchw;
  std::string input;
  std::optional<bool> applyOrientation;  // not said: an image that has one is refused
  std::optional<ImageResize> resize;
  std::optional<ImageSize> crop;
  float divide = 1;
  std::vector<float> mean, std;  // one a channel; empty: not done
  base::DType dtype = base::DType::float32;
  std::string canonical;  // JSON with sorted keys, as a reference set's `preprocessing`

  int channelCount() const { return channels == Channels::grey ? 1 : 3; }
};

inline constexpr const char* kPreprocessingFile = "preprocessing.json";
inline constexpr int kMostImageSide = 32768;

// Error kind input: the folder has no such file (with a minimal one to write), or something in it is not as above.
base::Result<ImagePreprocessing> readPreprocessing(const std::string& folder);

// How large an image of that size is after `resize`; torchvision's Resize rounds the longer side down.
ImageSize resizedSize(const ImageResize& resize, ImageSize from);

}  // namespace ulpscope::storage
