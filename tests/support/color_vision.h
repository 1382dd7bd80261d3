// How far apart two colours are for people who see all colours, or not red, green or blue.
//
// What they see: Machado, Oliveira, Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG
// 15(6), table 1 at severity 1.0 (protanopia, deuteranopia, tritanopia), on linear sRGB. How far apart: CIEDE2000 (Sharma, Wu, Dalal
// 2005, Color Res. Appl. 30(1)), from sRGB (IEC 61966-2-1) with D65. 1 is about the least that is seen side by side, 10 is seen at a look.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace ulpscope::tests {

enum class Vision { all, noRed, noGreen, noBlue };
inline constexpr std::array kVisions{Vision::all, Vision::noRed, Vision::noGreen, Vision::noBlue};
using Triple = std::array<double, 3>;

inline Triple times(const std::array<Triple, 3>& m, const Triple& v) {
  Triple result{};
  for (std::size_t i = 0; i < 3; ++i) result[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return result;
}

inline const std::array<Triple, 3>& machado(Vision vision) {
  static const std::array<std::array<Triple, 3>, 4> matrices{
      {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
       {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
       {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
       {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}}};
  return matrices[static_cast<std::size_t>(vision)];
}

// L, a, b of a colour of 0..255 as the eye sees it.
inline Triple labOf(int r, int g, int b, Vision vision = Vision::all) {
  Triple rgb{r / 255.0, g / 255.0, b / 255.0};
  for (double& v : rgb) v = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  rgb = times(machado(vision), rgb);
  for (double& v : rgb) v = std::clamp(v, 0.0, 1.0);
  Triple xyz = times({{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}}, rgb);
  const Triple white{0.95047, 1, 1.08883};
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = xyz[i] / white[i];
    xyz[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

inline double radians(double degrees) { return degrees * std::numbers::pi / 180; }
inline double hueOf(double a, double b) { return a == 0 && b == 0 ? 0 : std::fmod(std::atan2(b, a) * 180 / std::numbers::pi + 360, 360); }

inline double meanHue(double h1, double h2, bool isGrey) {
  if (isGrey) return h1 + h2;
  if (std::fabs(h1 - h2) <= 180) return (h1 + h2) / 2;
  return h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2;
}

// CIEDE2000 with kL = kC = kH = 1.
inline double difference(const Triple& x, const Triple& y) {
  const auto seventh = [](double c) { return std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + std::pow(25.0, 7))); };
  const double g = 1.5 - 0.5 * seventh((std::hypot(x[1], x[2]) + std::hypot(y[1], y[2])) / 2);
  const double c1 = std::hypot(g * x[1], x[2]), c2 = std::hypot(g * y[1], y[2]);
  const double h1 = hueOf(g * x[1], x[2]), h2 = hueOf(g * y[1], y[2]);
  const bool isGrey = c1 * c2 == 0;
  double turn = isGrey ? 0 : h2 - h1;
  if (turn > 180) turn -= 360;
  if (turn < -180) turn += 360;
  const double light = (x[0] + y[0]) / 2, chroma = (c1 + c2) / 2, hue = meanHue(h1, h2, isGrey);
  const double t = 1 - 0.17 * std::cos(radians(hue - 30)) + 0.24 * std::cos(radians(2 * hue)) + 0.32 * std::cos(radians(3 * hue + 6)) - 0.20 * std::cos(radians(4 * hue - 63));
  const double dl = (y[0] - x[0]) / (1 + 0.015 * std::pow(light - 50, 2) / std::sqrt(20 + std::pow(light - 50, 2)));
  const double dc = (c2 - c1) / (1 + 0.045 * chroma);
  const double dh = 2 * std::sqrt(c1 * c2) * std::sin(radians(turn / 2)) / (1 + 0.015 * chroma * t);
  const double rotation = -std::sin(radians(60 * std::exp(-std::pow((hue - 275) / 25, 2)))) * 2 * seventh(chroma);
  return std::sqrt(dl * dl + dc * dc + dh * dh + rotation * dc * dh);
}

}  // namespace ulpscope::tests
