// Private: arrays that lie in a file as plain bytes (npy, npz, safetensors), found and checked before a value of them is read.
#pragma once

#include "core/storage/strided_samples.h"

#include <map>
#include <optional>

namespace ulpscope::storage {

struct ElementType {
  enum class Kind { number, unsignedInteger, bytes, unicode };  // unsignedInteger: of a width that no tensor has; text: sizeBytes an entry
  Kind kind = Kind::number;
  base::DType dtype = base::DType::float32;  // of Kind::number
  std::size_t sizeBytes = 4;
  bool bigEndian = false;
  bool isText() const { return kind == Kind::bytes || kind == Kind::unicode; }
};

struct PlainArray {
  std::string name;
  ElementType type;
  std::vector<std::int64_t> shape;
  bool fortranOrder = false;  // the first index runs fastest
  std::string record;         // of an archive
  std::uint64_t firstByte = 0;  // in the file or the record
};

struct PlainArrays {
  std::string path;
  std::vector<PlainArray> arrays;            // each lies wholly inside its file or record
  std::map<std::string, std::string> texts;  // safetensors' __metadata__
  std::function<base::Result<Buffers>(const std::string& record, const std::vector<model::StorageWindow>&)> read;
};

// How many bytes such an array has; nothing where that is more than any memory (2^46) or a size is negative.
std::optional<std::uint64_t> byteCount(const std::vector<std::int64_t>& shape, std::size_t elementBytes);
std::string shapeText(const std::vector<std::int64_t>& shape);  // "[2, 3]"

// The elements row-major in native order, and what is wrong with them.
base::Result<RawTensor> readPlain(const PlainArrays& file, const PlainArray& array);
base::Result<std::vector<std::string>> readPlainTexts(const PlainArrays& file, const PlainArray& array);       // scalar or 1-D
base::Result<std::vector<std::int64_t>> readPlainIntegers(const PlainArrays& file, const PlainArray& array);  // 1-D, of any width
base::Result<std::vector<double>> readPlainDoubles(const PlainArrays& file, const PlainArray& array);         // 1-D, floating
base::Result<std::vector<RawTensor>> readPlainSamples(const PlainArrays& file, const PlainArray& array, const SampleSlices& slices);

}  // namespace ulpscope::storage
