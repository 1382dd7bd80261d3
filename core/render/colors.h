// Values to colours: the colour tables, the range and scale that they are spread over, and what stands outside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::render {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

enum class ColorMap { viridis, cividis, vik };
// t in [0, 1], clamped; NaN gives t = 0.
Rgb colorAt(ColorMap map, double t);
std::string label(ColorMap map);  // "viridis"

enum class Theme { light, dark };
// Fill colours of the special values; told apart by people who do not see red, green or blue (a test simulates it). Glyphs
// and hatching are drawn on top from 6 px.
struct SpecialColors {
  Rgb nan, plusInf, minusInf, exactZero, notRun;
};
SpecialColors specialColors(Theme theme);

enum class Scale { logarithmic, linear };
std::string label(Scale scale);  // "logarithmic"

// logarithmic: the sequential maps run from low to high; vik is symmetric about 0, linear within +-low, logarithmic up to
// +-high. linear: from 0 to high, vik from -high to high; low says nothing then.
struct ColorRange {
  double low = 1e-6;
  double high = 1e-1;
  Scale scale = Scale::logarithmic;
  friend bool operator==(const ColorRange&, const ColorRange&) = default;
};
// One range that holds both, in the scale of `a`.
ColorRange commonRange(const ColorRange& a, const ColorRange& b);
double colorPosition(double value, const ColorRange& range, ColorMap map);  // 0..1 along the map

}  // namespace ulpscope::render
