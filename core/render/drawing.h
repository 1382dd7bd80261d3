// A picture as shapes, so that a report's HTML (SVG) and its PDF (a painter) draw the same: units are those of CSS pixels, y grows downwards.
#pragma once

#include "core/render/colors.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace ulpscope::render {

// What a shape is for; light and dark pages give each a colour of their own.
enum class Ink { none, text, muted, line, paper, series, good, bad, warn, finding };
inline constexpr int kInkCount = static_cast<int>(Ink::finding) + 1;
// The window's colours of the same things.
Rgb inkColor(Ink ink, Theme theme);
std::string name(Ink ink);  // "text", "series"

enum class Dash { solid, dashed, dotted };
struct Stroke {
  Ink ink = Ink::text;
  double width = 1;
  Dash dash = Dash::solid;
};

struct Place {
  double x = 0, y = 0;
};

struct Line {
  std::vector<Place> points;
  Stroke stroke;
};

// fill wins over `color` unless it is none; outline none: no border.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  Ink fill = Ink::none;
  Ink outline = Ink::none;
  Rgb color{};              // with isColored
  bool isColored = false;
};

enum class Sign { dot, ring, square, diamond, hollowDiamond, triangleUp, hollowTriangleUp, triangleDown };
// The same sign at many places.
struct Signs {
  Sign sign = Sign::dot;
  Ink ink = Ink::series;
  double size = 6;
  std::vector<Place> at;
};
// Corners of a sign around (0, 0), closed; empty: a circle of that size.
std::vector<Place> cornersOf(Sign sign, double size);
bool isHollow(Sign sign);

enum class Anchor { start, middle, end };
struct Words {
  Place at;  // of the baseline
  std::string text;
  Ink ink = Ink::muted;
  Anchor anchor = Anchor::start;
  double size = 11;
  bool isVertical = false;  // read from below
};

// Pixels; dark: those of a dark page, null: the same.
struct Raster {
  double x = 0, y = 0, width = 0, height = 0;
  int columns = 0, rows = 0;
  std::shared_ptr<const std::vector<std::uint8_t>> light, dark;  // rgba
};

using DrawnShape = std::variant<Box, Line, Signs, Words, Raster>;

struct Drawing {
  double width = 0, height = 0;
  std::vector<DrawnShape> shapes;
  bool isEmpty() const { return shapes.empty(); }
};

// About what a text takes in a sans-serif of that size: where there is no font to ask.
double textWidth(const std::string& utf8, double size);
// At most `most` characters, its middle taken out: "encoder.…fc2".
std::string shortened(const std::string& utf8, std::size_t most);

}  // namespace ulpscope::render
