#include "core/storage/input_samples.h"

#include "core/base/size_text.h"
#include "core/storage/h5_guard.h"
#include "core/storage/held_samples.h"
#include "core/storage/input_tensor.h"

#include <algorithm>
#include <array>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;

// What an inputs file holds beside inputs (input_file.h).
constexpr std::array<const char*, 7> kNoInputs{"sample_ids", "labels", "class_names", "sample_kinds", "preprocessing", "expected", "targets"};

bool isInput(const std::string& name) {
  return !name.starts_with("expected_") && std::none_of(kNoInputs.begin(), kNoInputs.end(), [&](const char* other) { return name == other; });
}

std::vector<InputShape> datasetShapes(const std::string& path) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  std::vector<InputShape> shapes;
  for (const h5::LinkName& link : h5::links(file))
    if (isInput(link.name)) shapes.push_back(shapeOfTensor(file, link.name));
  return shapes;
}

base::Result<std::vector<InputShape>> heldShapes(const std::string& path) {
  const auto tensors = model::heldTensors(path);
  if (!tensors) return tensors.error();
  std::vector<InputShape> shapes;
  for (const model::HeldTensor& tensor : tensors.value())
    if (isInput(tensor.name)) shapes.push_back({tensor.name, tensor.dtype, tensor.shape});
  std::sort(shapes.begin(), shapes.end(), [](const InputShape& a, const InputShape& b) { return a.name < b.name; });
  return shapes;
}

// Throws h5::Failure.
void check(const InputShape& shape, const SampleSlices& slices) {
  constexpr const char* kOther = "the file is another one than the run's";
  if (slices.axis < -1 || slices.axis >= static_cast<int>(shape.shape.size())) h5::fail("has no axis " + std::to_string(slices.axis) + " to count samples", slices.input, kOther);
  std::vector<std::int64_t> one = shape.shape;
  if (slices.axis >= 0) {
    auto& count = one[static_cast<std::size_t>(slices.axis)];
    for (const std::int64_t sample : slices.samples)
      if (sample < 0 || sample >= count) h5::fail("has no sample " + std::to_string(sample) + ", only " + std::to_string(count), slices.input, kOther);
    count = 1;
  }
  const std::size_t bytes = h5::byteCount(one, base::sizeBytes(shape.dtype), slices.input);
  if (bytes > slices.mostBytes)
    h5::fail("has samples of " + base::sizeText(bytes) + ", more than is read for a picture (" + base::sizeText(slices.mostBytes) + ")", slices.input);
}

std::vector<RawTensor> datasetSlices(const std::string& path, const SampleSlices& slices) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  check(shapeOfTensor(file, slices.input), slices);
  if (slices.axis < 0) return std::vector<RawTensor>(slices.samples.size(), readTensor(file, slices.input));
  std::vector<RawTensor> tensors;
  for (const std::int64_t sample : slices.samples) tensors.push_back(readSlice(file, slices.input, slices.axis, sample));
  return tensors;
}

base::Result<std::vector<RawTensor>> heldSlices(const std::string& path, const SampleSlices& slices) {
  const auto tensors = model::heldTensors(path);
  if (!tensors) return tensors.error();
  for (const model::HeldTensor& tensor : tensors.value()) {
    if (tensor.name != slices.input) continue;
    const auto fits = h5::guarded(path, [&] {
      check({tensor.name, tensor.dtype, tensor.shape}, slices);
      return base::Done{};
    });
    if (!fits) return fits.error();
    return readHeldSamples(path, tensor, slices);
  }
  return Error{ErrorKind::input, "is not in the file", path + ", " + slices.input, "the file is another one than the run's"};
}

}  // namespace

base::Result<std::vector<InputShape>> inputShapes(const std::string& path) {
  if (looksLikeZip(path)) return heldShapes(path);
  return h5::guardedRead(path, [&] { return datasetShapes(path); });
}

base::Result<std::vector<RawTensor>> readSamples(const std::string& path, const SampleSlices& slices) {
  if (looksLikeZip(path)) return heldSlices(path, slices);
  return h5::guardedRead(path, [&] { return datasetSlices(path, slices); });
}

}  // namespace ulpscope::storage
