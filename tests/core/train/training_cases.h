// What make_training_cases.py wrote.
#pragma once

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace ulpscope::tests {

inline std::string trainingCase(const std::string& file) { return std::string(ULPSCOPE_TEST_BUILD) + "/testdata/training/" + file; }

inline nlohmann::json trainingCases(const std::string& name) {
  std::ifstream file(trainingCase(name + ".json"));
  return nlohmann::json::parse(file);
}

// Python's repr of a float: "inf" and "nan" too.
inline float floatOf(const nlohmann::json& text) { return std::strtof(text.get<std::string>().c_str(), nullptr); }

inline std::vector<float> floats(const nlohmann::json& texts) {
  std::vector<float> values;
  for (const auto& text : texts) values.push_back(floatOf(text));
  return values;
}

// A NaN is a NaN.
inline bool sameBits(const at::Tensor& tensor, const nlohmann::json& texts) {
  const std::vector<float> expected = floats(texts);
  const at::Tensor flat = tensor.detach().contiguous().view({-1});
  if (flat.numel() != static_cast<std::int64_t>(expected.size())) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float value = flat.data_ptr<float>()[i];
    if (std::isnan(value) ? !std::isnan(expected[i]) : std::memcmp(&value, &expected[i], sizeof value) != 0) return false;
  }
  return true;
}

}  // namespace ulpscope::tests
