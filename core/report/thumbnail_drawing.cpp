#include "core/report/figures.h"

#include <algorithm>

namespace ulpscope::report {
namespace {

constexpr double kSide = 40;

}  // namespace

// Pixels, or a curve from least to largest value a column; words have no picture.
render::Drawing thumbnailDrawing(const SamplePicture& picture) {
  const render::Thumbnail& light = picture.light;
  render::Drawing drawing{kSide, kSide, {}};
  if (light.kind == render::Thumbnail::Kind::image) {
    const double scale = kSide / std::max(light.width, light.height);
    drawing.width = light.width * scale;
    drawing.height = light.height * scale;
    drawing.shapes.emplace_back(render::Raster{0, 0, drawing.width, drawing.height, light.width, light.height, std::make_shared<const std::vector<std::uint8_t>>(light.rgba), std::make_shared<const std::vector<std::uint8_t>>(picture.dark.rgba)});
  } else if (light.kind == render::Thumbnail::Kind::curve) {
    const auto count = static_cast<double>(light.curve.size());
    for (std::size_t i = 0; i < light.curve.size(); ++i) {
      const double x = (static_cast<double>(i) + 0.5) / count * kSide;
      const render::CurveColumn& c = light.curve[i];
      if (c.hasValue) drawing.shapes.emplace_back(render::Line{{{x, kSide - 1 - c.low * (kSide - 2)}, {x, kSide - 2 - c.high * (kSide - 2)}}, {render::Ink::series, std::max(0.8, kSide / count)}});
      if (c.hasNonfinite) drawing.shapes.emplace_back(render::Signs{render::Sign::diamond, render::Ink::finding, 4, {{x, 3}}});
    }
  }
  return drawing;
}

}  // namespace ulpscope::report
