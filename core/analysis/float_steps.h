// float32 values from 0 up, counted: what a search for the last step needs.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace ulpscope::analysis {

// How many float32 values lie below x. Precondition: x >= 0.
inline std::uint32_t stepsTo(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits & 0x7FFFFFFFU;
}
inline float atStep(std::uint32_t steps) {
  float x = 0;
  std::memcpy(&x, &steps, sizeof x);
  return x;
}
inline bool areNeighbours(float below, float above) { return stepsTo(above) - stepsTo(below) <= 1; }

// Up to `count` values strictly between, evenly spread by steps, so that a search from 0 ends too. Empty: neighbours.
inline std::vector<float> floatsBetween(float below, float above, std::size_t count) {
  const std::uint64_t first = stepsTo(below), gap = stepsTo(above) - first;
  std::vector<float> values;
  for (std::uint64_t i = 1; i <= count; ++i) {
    const std::uint64_t step = first + gap * i / (count + 1);
    if (step > first && step < first + gap && (values.empty() || values.back() != atStep(static_cast<std::uint32_t>(step)))) values.push_back(atStep(static_cast<std::uint32_t>(step)));
  }
  if (values.empty() && gap > 1) values.push_back(atStep(static_cast<std::uint32_t>(first + gap / 2)));
  return values;
}

}  // namespace ulpscope::analysis
