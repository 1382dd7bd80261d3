// Inputs, labels and expected outputs from an HDF5 file (float16/bfloat16/float/int/bool datasets, any layout HDF5
// reads by itself; external storage, virtual datasets and external links are refused).
#pragma once

#include "core/base/dtype.h"
#include "core/base/error.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ulpscope::storage {

// Contiguous, row-major, native byte order.
struct RawTensor {
  std::string name;
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

// What an inputs file holds. Reserved names at the root: sample_ids (strings), labels (integers), class_names (strings), sample_kinds
// (strings), preprocessing (a string), group `expected` (saved eager outputs by output name). Every other dataset at the root is an input
// named as forward's argument, or `targets` (floating, one row a sample). An attribute `dtype` = "bfloat16" on a uint16 dataset is honoured (facts: h5py writes it so).
struct InputFile {
  std::vector<RawTensor> inputs;
  std::vector<std::string> sampleIds;
  std::vector<std::int64_t> labels;
  std::vector<std::string> classNames;
  std::vector<std::string> kinds;
  std::string preprocessing;
  std::vector<RawTensor> expected;
};

bool looksLikeHdf5(const std::string& path);  // by its signature
base::Result<InputFile> readInputFile(const std::string& path);
// What is true of the samples: classes (HDF5 `labels`, or text with one whole number a line) or quantities (HDF5 `targets`, 1-D, or text
// with one number a line of which one has a fraction). One of the two is empty.
struct Truth {
  std::vector<std::int64_t> labels;
  std::vector<double> targets;
};
base::Result<Truth> readTruth(const std::string& path);
// One a line, or HDF5 `class_names`.
base::Result<std::vector<std::string>> readClassNames(const std::string& path);

}  // namespace ulpscope::storage
