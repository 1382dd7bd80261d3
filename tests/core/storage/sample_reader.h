// What tests of single samples share, whichever kind of file they come from.
#pragma once

#include "core/storage/input_samples.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace ulpscope::tests {

template <typename T>
std::vector<T> valuesOf(const storage::RawTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

inline std::vector<storage::RawTensor> samplesOf(const std::string& path, const storage::SampleSlices& slices) {
  auto result = storage::readSamples(path, slices);
  EXPECT_TRUE(result.ok()) << result.error().message();
  return result.ok() ? result.value() : std::vector<storage::RawTensor>(slices.samples.size());
}

inline std::string sampleError(const std::string& path, const storage::SampleSlices& slices) {
  const auto result = storage::readSamples(path, slices);
  return result.ok() ? "read" : result.error().message();
}

}  // namespace ulpscope::tests
