#include "core/render/svg.h"

#include "core/base/base64.h"
#include "core/base/xml_text.h"
#include "core/render/png.h"

#include <fmt/format.h>

#include <cmath>

namespace ulpscope::render {
namespace {

// A tenth of a pixel is finer than any page shows.
std::string px(double value) {
  const double tenths = std::round(value * 10);
  if (tenths == 0) return "0";
  return std::fmod(tenths, 10) == 0 ? fmt::format("{:.0f}", tenths / 10) : fmt::format("{:.1f}", tenths / 10);
}

std::string hex(Rgb c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

std::string pathOf(const std::vector<Place>& points, Place offset) {
  std::string path;
  for (const Place& p : points) path += fmt::format("{}{} {}", path.empty() ? "M" : "L", px(p.x + offset.x), px(p.y + offset.y));
  return path;
}

std::string dashOf(Dash dash) {
  if (dash == Dash::solid) return "";
  return dash == Dash::dashed ? " stroke-dasharray=\"5 3\"" : " stroke-dasharray=\"1.5 2.5\"";
}

std::string shapeText(const Box& box) {
  std::string style = fmt::format(" class=\"f-{} s-{}\"", name(box.fill), name(box.outline));
  if (box.isColored && box.fill == Ink::none) style = fmt::format(" class=\"s-{}\" fill=\"{}\" shape-rendering=\"crispEdges\"", name(box.outline), hex(box.color));  // no seams between neighbours
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>", px(box.x), px(box.y), px(box.width), px(box.height), style);
}

std::string shapeText(const Line& line) {
  if (line.points.size() < 2) return "";
  return fmt::format("<path class=\"f-none s-{}\" stroke-width=\"{}\"{} d=\"{}\"/>", name(line.stroke.ink), px(line.stroke.width), dashOf(line.stroke.dash), pathOf(line.points, {}));
}

// Circles as two arcs: one path holds thousands of them.
std::string signPath(const Signs& signs) {
  const std::vector<Place> corners = cornersOf(signs.sign, signs.size);
  const std::string r = px(signs.size / 2), d = px(signs.size), back = px(-signs.size);
  std::string path;
  for (const Place& at : signs.at)
    path += corners.empty() ? fmt::format("M{} {}a{} {} 0 1 0 {} 0a{} {} 0 1 0 {} 0", px(at.x - signs.size / 2), px(at.y), r, r, d, r, r, back) : pathOf(corners, at) + "Z";
  return path;
}

std::string shapeText(const Signs& signs) {
  if (signs.at.empty()) return "";
  const std::string ink = name(signs.ink);
  return isHollow(signs.sign) ? fmt::format("<path class=\"f-paper s-{}\" stroke-width=\"1.2\" d=\"{}\"/>", ink, signPath(signs))
                              : fmt::format("<path class=\"f-{} s-none\" d=\"{}\"/>", ink, signPath(signs));
}

std::string shapeText(const Words& words) {
  const char* anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const std::string turn = words.isVertical ? fmt::format(" transform=\"rotate(-90 {} {})\"", px(words.at.x), px(words.at.y)) : "";
  return fmt::format("<text class=\"f-{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}>{}</text>", name(words.ink), px(words.at.x), px(words.at.y), px(words.size),
                     anchors[static_cast<int>(words.anchor)], turn, base::xmlText(words.text));
}

std::string imageText(const Raster& raster, const std::vector<std::uint8_t>& rgba, const char* theme) {
  const std::string png = pngOf(raster.columns, raster.rows, rgba);
  return fmt::format("<image{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" href=\"data:image/png;base64,{}\"/>",
                     *theme ? fmt::format(" class=\"{}\"", theme) : "", px(raster.x), px(raster.y), px(raster.width), px(raster.height), base::toBase64(png.data(), png.size()));
}

std::string shapeText(const Raster& raster) {
  if (!raster.light) return "";
  if (!raster.dark || *raster.dark == *raster.light) return imageText(raster, *raster.light, "");
  return imageText(raster, *raster.light, "light") + imageText(raster, *raster.dark, "dark");
}

}  // namespace

std::string svgOf(const Drawing& drawing, const std::string& words) {
  const std::string label = base::xmlText(words);
  std::string text = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{}\"><title>{}</title>", px(drawing.width),
                                 px(drawing.height), px(drawing.width), px(drawing.height), label, label);
  for (const DrawnShape& shape : drawing.shapes) text += std::visit([](const auto& s) { return shapeText(s); }, shape) + "\n";
  return text + "</svg>";
}

}  // namespace ulpscope::render
