// viridis and cividis: anchors of matplotlib's tables (CC0; Nunez, Anderton, Renslow 2018 for cividis);
// vik: Crameri, Scientific colour maps (MIT), doi:10.5281/zenodo.1243862. Linear in sRGB between anchors.
#include "core/render/viewport.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace ulpscope::render {
namespace {

constexpr Rgb rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex)};
}

constexpr std::array kViridis{rgb(0x440154), rgb(0x48186a), rgb(0x472d7b), rgb(0x424086), rgb(0x3b528b), rgb(0x33638d),
                              rgb(0x2c728e), rgb(0x26828e), rgb(0x21918c), rgb(0x1fa088), rgb(0x28ae80), rgb(0x3fbc73),
                              rgb(0x5ec962), rgb(0x84d44b), rgb(0xaddc30), rgb(0xd8e219), rgb(0xfde725)};

constexpr std::array kCividis{rgb(0x00224e), rgb(0x123570), rgb(0x3b496c), rgb(0x575d6d), rgb(0x707173),
                              rgb(0x8a8678), rgb(0xa59c74), rgb(0xc3b369), rgb(0xe1cc55), rgb(0xfee838)};

constexpr std::array kVik{
    rgb(0x001261), rgb(0x021f69), rgb(0x022b71), rgb(0x023779), rgb(0x034481), rgb(0x045089), rgb(0x0c5e92),
    rgb(0x1b6d9b), rgb(0x2f7ca6), rgb(0x478db1), rgb(0x609dbc), rgb(0x79adc7), rgb(0x92bdd2), rgb(0xacccdc),
    rgb(0xc5dbe5), rgb(0xdce5e9), rgb(0xece5e1), rgb(0xeedacf), rgb(0xe9cbb9), rgb(0xe2bba4), rgb(0xdcab8f),
    rgb(0xd59c7b), rgb(0xcf8e68), rgb(0xc97f55), rgb(0xc37243), rgb(0xbc6331), rgb(0xb3531f), rgb(0xa5400e),
    rgb(0x932e06), rgb(0x832106), rgb(0x741506), rgb(0x660a07), rgb(0x590008)};

std::span<const Rgb> table(ColorMap map) {
  switch (map) {
    case ColorMap::viridis: return kViridis;
    case ColorMap::cividis: return kCividis;
    case ColorMap::vik: return kVik;
  }
  return kViridis;
}

std::uint8_t between(std::uint8_t a, std::uint8_t b, double f) {
  return static_cast<std::uint8_t>(std::lround(a + (static_cast<double>(b) - a) * f));
}

}  // namespace

Rgb colorAt(ColorMap map, double t) {
  const std::span<const Rgb> anchors = table(map);
  const double clamped = std::isnan(t) ? 0.0 : std::clamp(t, 0.0, 1.0);
  const double at = clamped * static_cast<double>(anchors.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
  const double f = at - static_cast<double>(i);
  const Rgb& a = anchors[i];
  const Rgb& b = anchors[i + 1];
  return {between(a.r, b.r, f), between(a.g, b.g, f), between(a.b, b.b, f)};
}

SpecialColors specialColors(Theme theme) {
  if (theme == Theme::dark)
    return {.nan = rgb(0x000000), .plusInf = rgb(0xe8281e), .minusInf = rgb(0xffffff), .exactZero = rgb(0x5b6069), .notRun = rgb(0x2c2f35)};
  return {.nan = rgb(0x000000), .plusInf = rgb(0xe3170d), .minusInf = rgb(0xffffff), .exactZero = rgb(0x8f97a2), .notRun = rgb(0xcdd2d9)};
}

std::string label(ColorMap map) {
  switch (map) {
    case ColorMap::viridis: return "viridis";
    case ColorMap::cividis: return "cividis";
    case ColorMap::vik: return "vik";
  }
  return "viridis";
}

std::string label(Scale scale) { return scale == Scale::linear ? "linear" : "logarithmic"; }

ColorRange commonRange(const ColorRange& a, const ColorRange& b) { return {std::min(a.low, b.low), std::max(a.high, b.high), a.scale}; }

double colorPosition(double value, const ColorRange& range, ColorMap map) {
  if (range.scale == Scale::linear) {
    const double share = std::clamp(value / range.high, -1.0, 1.0);
    return map == ColorMap::vik ? 0.5 + share / 2 : std::max(share, 0.0);
  }
  const double decades = std::log10(range.high / range.low);
  if (map != ColorMap::vik) return value <= 0 ? 0.0 : std::clamp(std::log10(value / range.low) / decades, 0.0, 1.0);
  return 0.5 + std::clamp(symlog(value, range.low) / (1 + decades), -1.0, 1.0) / 2;
}

}  // namespace ulpscope::render
