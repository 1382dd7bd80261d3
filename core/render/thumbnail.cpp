#include "core/render/thumbnail.h"

#include "core/analysis/tensor_view.h"
#include "core/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ulpscope::render {
namespace {

using analysis::RangeSummary;
using analysis::TensorView;
using base::DType;
using Kind = Thumbnail::Kind;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kShownNumbers = 24;
constexpr double kByteMax = 255;

struct Planes {
  std::int64_t channels, height, width;
};

bool isEmpty(const Shape& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

// channels 0: no image.
Planes planesOf(DType dtype, const Shape& shape) {
  if (isEmpty(shape) || base::isComplex(dtype)) return {0, 0, 0};
  if (shape.size() == 3 && (shape[0] == 1 || shape[0] == 3)) return {shape[0], shape[1], shape[2]};
  const bool isMap = shape.size() == 2 && shape[0] > 1 && shape[1] > 1 && (base::isFloating(dtype) || dtype == DType::uint8);
  return isMap ? Planes{1, shape[0], shape[1]} : Planes{0, 0, 0};
}

bool isCurve(DType dtype, const Shape& shape) {
  if (!base::isFloating(dtype) || isEmpty(shape)) return false;
  if (shape.size() == 1) return shape[0] > 1;
  return shape.size() == 2 && (shape[0] == 1 || shape[1] == 1) && shape[0] * shape[1] > 1;
}

// Where a finite value stands between the least and the largest: 0 to 1; 0.5 where all are the same.
struct Stretch {
  double low = 0, high = 0;
  double operator()(double x) const {
    // Halves: high - low may exceed double's range.
    return high > low ? (x / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
  }
};

std::string shapeText(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string describe(const storage::RawTensor& sample, const RangeSummary& range) {
  std::string text = base::name(sample.dtype) + " " + shapeText(sample.shape);
  if (isEmpty(sample.shape)) return text + ", empty";
  if (std::isnan(range.range.min)) text += ", no finite value";
  else if (range.range.min == range.range.max) text += ", all " + base::shortNumber(range.range.min);
  else text += fmt::format(", {} to {}", base::shortNumber(range.range.min), base::shortNumber(range.range.max));
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", base::groupedInteger(count), what);
  };
  add(range.nonfinite.nan, "NaN");
  add(range.nonfinite.plusInf, "+inf");
  add(range.nonfinite.minusInf, "-inf");
  return text;
}

// A block of an image's elements.
struct Block {
  std::int64_t top, bottom, left, right;
};

class ImageMaker {
 public:
  ImageMaker(const TensorView& view, Planes planes, Stretch stretch, Theme theme) : m_view(view), m_planes(planes), m_stretch(stretch), m_special(specialColors(theme)) {}

  Rgb colorOf(const Block& block) const {
    Mean means[3];
    for (std::int64_t c = 0; c < m_planes.channels; ++c) means[c] = meanOf(c, block);
    bool nan = false, plus = false, minus = false;
    for (const Mean& m : means) nan |= m.nan, plus |= m.plusInf, minus |= m.minusInf;
    if (nan) return m_special.nan;
    if (plus) return m_special.plusInf;
    if (minus) return m_special.minusInf;
    const auto byte = [](const Mean& m) { return static_cast<std::uint8_t>(std::lround(kByteMax * std::clamp(m.sum / static_cast<double>(m.count), 0.0, 1.0))); };
    if (m_planes.channels == 1) return {byte(means[0]), byte(means[0]), byte(means[0])};
    return {byte(means[0]), byte(means[1]), byte(means[2])};
  }

 private:
  struct Mean {
    double sum = 0;  // of stretched values
    std::int64_t count = 0;
    bool nan = false, plusInf = false, minusInf = false;
  };
  Mean meanOf(std::int64_t channel, const Block& block) const {
    Mean mean;
    for (std::int64_t y = block.top; y < block.bottom; ++y)
      for (std::int64_t x = block.left; x < block.right; ++x) {
        const double v = elementAt(m_view, (channel * m_planes.height + y) * m_planes.width + x);
        if (std::isfinite(v)) {
          mean.sum += m_stretch(v);
          ++mean.count;
        } else {
          (std::isnan(v) ? mean.nan : v > 0 ? mean.plusInf : mean.minusInf) = true;
        }
      }
    return mean;
  }

  const TensorView& m_view;
  Planes m_planes;
  Stretch m_stretch;
  SpecialColors m_special;
};

// The size that fits, with the image's proportions and at least one pixel; an image that fits keeps its own.
ThumbnailSize fitted(const Planes& planes, ThumbnailSize most) {
  const double scale = std::min({1.0, most.width / static_cast<double>(planes.width), most.height / static_cast<double>(planes.height)});
  const auto side = [scale](std::int64_t n) { return std::max(1, static_cast<int>(std::lround(scale * static_cast<double>(n)))); };
  return {side(planes.width), side(planes.height)};
}

void makeImage(const TensorView& view, const ImageMaker& maker, ThumbnailSize size, Thumbnail& thumbnail) {
  const Planes planes = planesOf(view.dtype, view.shape);
  thumbnail.width = size.width;
  thumbnail.height = size.height;
  thumbnail.rgba.reserve(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 4);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Rgb c = maker.colorOf({planes.height * y / size.height, planes.height * (y + 1) / size.height, planes.width * x / size.width, planes.width * (x + 1) / size.width});
      for (const std::uint8_t byte : {c.r, c.g, c.b, std::uint8_t{255}}) thumbnail.rgba.push_back(byte);
    }
}

std::vector<CurveColumn> curveOf(const TensorView& view, const Stretch& stretch, int mostColumns) {
  const std::int64_t count = view.elementCount();
  std::vector<CurveColumn> columns(static_cast<std::size_t>(std::min<std::int64_t>(count, std::max(1, mostColumns))));
  for (std::int64_t i = 0; i < count; ++i) {
    CurveColumn& column = columns[static_cast<std::size_t>(i * static_cast<std::int64_t>(columns.size()) / count)];
    const double v = elementAt(view, i);
    if (!std::isfinite(v)) {
      column.hasNonfinite = true;
      continue;
    }
    const auto at = static_cast<float>(stretch(v));
    column.low = column.hasValue ? std::min(column.low, at) : at;
    column.high = column.hasValue ? std::max(column.high, at) : at;
    column.hasValue = true;
  }
  return columns;
}

std::string numbersOf(const TensorView& view) {
  const std::int64_t count = view.elementCount();
  std::string text;
  for (std::int64_t i = 0; i < std::min(count, kShownNumbers); ++i) text += (i > 0 ? " " : "") + base::exactNumber(elementAt(view, i));
  return count > kShownNumbers ? text + fmt::format(" … {} more", base::groupedInteger(count - kShownNumbers)) : text;
}

std::string summaryOf(const TensorView& view, const RangeSummary& range) {
  std::string text = base::name(view.dtype) + "\n" + shapeText(view.shape);
  if (isEmpty(view.shape)) return text + "\nempty";
  if (std::isnan(range.range.min)) return text + "\nno finite value";
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < view.elementCount(); ++i)
    if (const double v = elementAt(view, i); std::isfinite(v)) {
      sum += v;
      ++count;
    }
  return text + fmt::format("\nmin {}\nmax {}\nmean {}", base::shortNumber(range.range.min), base::shortNumber(range.range.max), base::shortNumber(sum / static_cast<double>(count)));
}

}  // namespace

bool givesPicture(DType dtype, const Shape& shape) { return planesOf(dtype, shape).channels > 0 || isCurve(dtype, shape); }

Thumbnail thumbnailOf(const storage::RawTensor& sample, ThumbnailSize most, Theme theme) {
  const TensorView view{sample.bytes.data(), sample.dtype, sample.shape};
  const RangeSummary range = analysis::rangeOf(view);
  Thumbnail thumbnail;
  thumbnail.caption = describe(sample, range);
  const Planes planes = planesOf(sample.dtype, sample.shape);
  if (planes.channels > 0) {
    thumbnail.kind = Kind::image;
    const Stretch stretch = sample.dtype == DType::uint8 ? Stretch{0, kByteMax} : Stretch{range.range.min, range.range.max};
    makeImage(view, ImageMaker(view, planes, stretch, theme), fitted(planes, most), thumbnail);
  } else if (isCurve(sample.dtype, sample.shape)) {
    thumbnail.kind = Kind::curve;
    thumbnail.curve = curveOf(view, {range.range.min, range.range.max}, most.width);
  } else {
    thumbnail.kind = Kind::text;
    const bool areNumbers = !base::isInexact(sample.dtype) && sample.shape.size() <= 2 && !isEmpty(sample.shape);
    const bool isOne = sample.dtype != DType::complex64 && sample.dtype != DType::complex128 && view.elementCount() == 1;
    thumbnail.text = areNumbers || isOne ? numbersOf(view) : summaryOf(view, range);
  }
  return thumbnail;
}

}  // namespace ulpscope::render
