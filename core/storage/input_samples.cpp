#include "core/storage/input_samples.h"

#include "core/base/size_text.h"
#include "core/storage/h5_guard.h"
#include "core/storage/input_tensor.h"

#include <array>

namespace ulpscope::storage {
namespace {

// What an inputs file holds at its root besides inputs (input_file.h).
constexpr std::array<const char*, 7> kNoInputs{"sample_ids", "labels", "class_names", "sample_kinds", "preprocessing", "expected", "targets"};

bool isInput(const std::string& name) {
  for (const char* other : kNoInputs)
    if (name == other) return false;
  return true;
}

std::vector<InputShape> shapesIn(const std::string& path) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  std::vector<InputShape> shapes;
  for (const h5::LinkName& link : h5::links(file))
    if (isInput(link.name)) shapes.push_back(shapeOfTensor(file, link.name));
  return shapes;
}

void check(const InputShape& shape, const SampleSlices& slices) {
  if (slices.axis < -1 || slices.axis >= static_cast<int>(shape.shape.size()))
    h5::fail("has no axis " + std::to_string(slices.axis) + " to count samples", slices.input, "the file is another one than the run's");
  std::vector<std::int64_t> one = shape.shape;
  if (slices.axis >= 0) {
    auto& count = one[static_cast<std::size_t>(slices.axis)];
    for (const std::int64_t sample : slices.samples)
      if (sample < 0 || sample >= count)
        h5::fail("has no sample " + std::to_string(sample) + ", only " + std::to_string(count), slices.input, "the file is another one than the run's");
    count = 1;
  }
  const std::size_t bytes = h5::byteCount(one, base::sizeBytes(shape.dtype), slices.input);
  if (bytes > slices.mostBytes)
    h5::fail("has samples of " + base::sizeText(bytes) + ", more than is read for a picture (" + base::sizeText(slices.mostBytes) + ")", slices.input);
}

std::vector<RawTensor> slicesIn(const std::string& path, const SampleSlices& slices) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  check(shapeOfTensor(file, slices.input), slices);
  if (slices.axis < 0) return std::vector<RawTensor>(slices.samples.size(), readTensor(file, slices.input));
  std::vector<RawTensor> tensors;
  for (const std::int64_t sample : slices.samples) tensors.push_back(readSlice(file, slices.input, slices.axis, sample));
  return tensors;
}

}  // namespace

base::Result<std::vector<InputShape>> inputShapes(const std::string& path) {
  return h5::guardedRead(path, [&] { return shapesIn(path); });
}

base::Result<std::vector<RawTensor>> readSamples(const std::string& path, const SampleSlices& slices) {
  return h5::guardedRead(path, [&] { return slicesIn(path, slices); });
}

}  // namespace ulpscope::storage
