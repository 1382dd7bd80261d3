// Inputs, labels and expected outputs of a run: from HDF5 (float16/bfloat16/float/int/bool datasets, any layout HDF5 reads by itself; external
// storage, virtual datasets and links out of the file are refused), from npz, npy and safetensors, or from a folder of images
// (image_folder.h). Which it is, input_kind.h says.
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
// Where the root's `default` leads to an NXdata, or there are no datasets at the root but one NXdata, its signals are the inputs (nexus_data.h);
// reserved names stand at the root or beside them.
// npz and safetensors: the same names; outputs are called expected/NAME or expected.NAME. safetensors holds no texts but its metadata:
// sample_ids, class_names and sample_kinds are JSON lists there, preprocessing is a text.
struct InputFile {
  std::vector<RawTensor> inputs;
  std::vector<std::string> sampleIds;
  std::vector<std::int64_t> labels;
  std::vector<std::string> classNames;
  std::vector<std::string> kinds;
  std::string preprocessing;
  std::vector<RawTensor> expected;
  // False: nobody named the inputs for forward (an npy, arr_0 ... of an npz, one signal of an NXdata, images): they stand in the order of its
  // arguments, `targets` aside.
  bool isNamed = true;
};

bool looksLikeHdf5(const std::string& path);  // by its signature
// Any kind but InputKind::holder, which LibTorch reads (kind input).
base::Result<InputFile> readInputFile(const std::string& path);
// What is true of the samples: classes (`labels` of an inputs file, an npy of integers, or text with one whole number a line) or quantities
// (`targets`, 1-D, an npy of floats, or text with one number a line of which one has a fraction). One of the two is empty.
struct Truth {
  std::vector<std::int64_t> labels;
  std::vector<double> targets;
};
base::Result<Truth> readTruth(const std::string& path);
// One a line, `class_names` of an inputs file, or an npy of texts.
base::Result<std::vector<std::string>> readClassNames(const std::string& path);

}  // namespace ulpscope::storage
