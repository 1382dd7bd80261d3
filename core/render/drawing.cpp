#include "core/render/drawing.h"

#include <array>

namespace ulpscope::render {
namespace {

constexpr Rgb rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex)};
}

struct InkOf {
  const char* name;
  Rgb light, dark;
};

// widgets/plots/theme.cpp has the same for the window; a test holds them together.
constexpr std::array<InkOf, kInkCount> kInks{{{"none", {}, {}},
                                             {"text", rgb(0x1d2229), rgb(0xe6e8eb)},
                                             {"muted", rgb(0x5a636e), rgb(0xa3abb5)},
                                             {"line", rgb(0xd5dae0), rgb(0x3c4047)},
                                             {"paper", rgb(0xffffff), rgb(0x1c1e22)},
                                             {"series", rgb(0x1a66cc), rgb(0x64a9f5)},
                                             {"good", rgb(0x1b7a53), rgb(0x7fd1a8)},
                                             {"bad", rgb(0xa3210f), rgb(0xff9a86)},
                                             {"warn", rgb(0x7a5200), rgb(0xecc46a)},
                                             {"finding", rgb(0xa3138f), rgb(0xff6ad5)}}};

// Of DejaVu Sans, which is wider than most: ' ' to '~', in hundredths of the size.
constexpr std::array<unsigned char, 95> kAdvances{
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
    100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50,
    50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};
constexpr double kOtherAdvance = 64, kWideAdvance = 100;  // of letters beyond ASCII; from U+3000 on they are square

bool startsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t characters(const std::string& utf8) {
  std::size_t count = 0;
  for (const char c : utf8) count += startsCharacter(c) ? 1 : 0;
  return count;
}

std::size_t byteOf(const std::string& utf8, std::size_t character) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < utf8.size(); ++at)
    if (startsCharacter(utf8[at]) && seen++ == character) break;
  return at;
}

}  // namespace

Rgb inkColor(Ink ink, Theme theme) {
  const InkOf& of = kInks[static_cast<std::size_t>(ink)];
  return theme == Theme::dark ? of.dark : of.light;
}

std::string name(Ink ink) { return kInks[static_cast<std::size_t>(ink)].name; }

std::vector<Place> cornersOf(Sign sign, double size) {
  const double r = size / 2;
  switch (sign) {
    case Sign::square: return {{-0.85 * r, -0.85 * r}, {0.85 * r, -0.85 * r}, {0.85 * r, 0.85 * r}, {-0.85 * r, 0.85 * r}};
    case Sign::diamond:
    case Sign::hollowDiamond: return {{0, -r}, {r, 0}, {0, r}, {-r, 0}};
    case Sign::triangleUp:
    case Sign::hollowTriangleUp: return {{-r, 0.8 * r}, {r, 0.8 * r}, {0, -r}};
    case Sign::triangleDown: return {{-r, -0.8 * r}, {r, -0.8 * r}, {0, r}};
    case Sign::dot:
    case Sign::ring: break;
  }
  return {};
}

bool isHollow(Sign sign) { return sign == Sign::ring || sign == Sign::hollowDiamond || sign == Sign::hollowTriangleUp; }

double textWidth(const std::string& utf8, double size) {
  double hundredths = 0;
  for (const char c : utf8) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 32 && code < 127) hundredths += kAdvances[code - 32U];
    else if (startsCharacter(c)) hundredths += code >= 0xE3U ? kWideAdvance : kOtherAdvance;
  }
  return hundredths / 100 * size;
}

std::string shortened(const std::string& utf8, std::size_t most) {
  const std::size_t count = characters(utf8);
  if (count <= most || most < 3) return utf8;
  const std::size_t front = (most - 1) / 2, back = most - 1 - front;
  return utf8.substr(0, byteOf(utf8, front)) + "…" + utf8.substr(byteOf(utf8, count - back));
}

}  // namespace ulpscope::render
