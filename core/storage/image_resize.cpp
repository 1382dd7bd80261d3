#include "core/storage/image_pixels.h"

#include <algorithm>
#include <cmath>

namespace ulpscope::storage {
namespace {

using Filter = ImageResize::Filter;

constexpr int kFractionBits = 32 - 8 - 2;

double weight(Filter filter, double x) {
  x = std::abs(x);
  if (filter == Filter::bilinear) return x < 1 ? 1 - x : 0;
  constexpr double a = -0.5;  // of Keys' cubic
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// What one entry of the result is made of: entries from `first` on, each times its coefficient.
struct Window {
  int first = 0;
  std::vector<std::int32_t> coefficients;
};

std::vector<Window> windowsFor(int from, int to, Filter filter) {
  const double scale = static_cast<double>(from) / to, widened = std::max(scale, 1.0);
  const double support = (filter == Filter::bilinear ? 1.0 : 2.0) * widened, shrink = 1.0 / widened;
  std::vector<Window> windows(static_cast<std::size_t>(to));
  std::vector<double> weights;
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(center - support + 0.5), 0), end = std::min(static_cast<int>(center + support + 0.5), from);
    weights.clear();
    double sum = 0;
    for (int x = first; x < end; ++x) {
      weights.push_back(weight(filter, (x - center + 0.5) * shrink));
      sum += weights.back();
    }
    Window& window = windows[static_cast<std::size_t>(i)];
    window.first = first;
    for (const double w : weights) {
      const double scaled = (sum != 0 ? w / sum : w) * (1 << kFractionBits);
      window.coefficients.push_back(static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
    }
  }
  return windows;
}

std::uint8_t rounded(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255)); }

// step: bytes from one entry to the next of the same channel.
std::uint8_t convolve(const std::uint8_t* from, std::size_t step, const Window& window) {
  std::int32_t sum = 1 << (kFractionBits - 1);
  for (std::size_t k = 0; k < window.coefficients.size(); ++k) sum += from[(static_cast<std::size_t>(window.first) + k) * step] * window.coefficients[k];
  return rounded(sum);
}

Pixels acrossResized(const Pixels& pixels, int width, Filter filter) {
  Pixels result{{pixels.size.height, width}, pixels.channels, {}};
  const auto channels = static_cast<std::size_t>(pixels.channels), rowBytes = channels * static_cast<std::size_t>(pixels.size.width);
  const std::vector<Window> windows = windowsFor(pixels.size.width, width, filter);
  result.bytes.reserve(static_cast<std::size_t>(pixels.size.height) * windows.size() * channels);
  for (std::size_t y = 0; y < static_cast<std::size_t>(pixels.size.height); ++y)
    for (const Window& window : windows)
      for (std::size_t c = 0; c < channels; ++c) result.bytes.push_back(convolve(pixels.bytes.data() + y * rowBytes + c, channels, window));
  return result;
}

Pixels downResized(const Pixels& pixels, int height, Filter filter) {
  Pixels result{{height, pixels.size.width}, pixels.channels, {}};
  const std::size_t rowBytes = static_cast<std::size_t>(pixels.channels) * static_cast<std::size_t>(pixels.size.width);
  const std::vector<Window> windows = windowsFor(pixels.size.height, height, filter);
  result.bytes.reserve(windows.size() * rowBytes);
  for (const Window& window : windows)
    for (std::size_t i = 0; i < rowBytes; ++i) result.bytes.push_back(convolve(pixels.bytes.data() + i, rowBytes, window));
  return result;
}

}  // namespace

Pixels resized(const Pixels& pixels, ImageSize size, Filter filter) {
  Pixels result = pixels;
  if (size.width != result.size.width) result = acrossResized(result, size.width, filter);
  if (size.height != result.size.height) result = downResized(result, size.height, filter);
  return result;
}

}  // namespace ulpscope::storage
