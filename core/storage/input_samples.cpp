#include "core/storage/input_samples.h"

#include "core/storage/array_inputs.h"
#include "core/storage/h5_guard.h"
#include "core/storage/h5_inputs.h"
#include "core/storage/image_folder.h"
#include "core/storage/input_names.h"
#include "core/storage/open_arrays.h"

#include <algorithm>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

bool isHeldInput(const std::string& name) { return !name.starts_with("expected_") && isInputName(name); }

Result<std::vector<InputShape>> heldShapes(const std::string& path) {
  const auto tensors = model::heldTensors(path);
  if (!tensors) return tensors.error();
  std::vector<InputShape> shapes;
  for (const model::HeldTensor& tensor : tensors.value())
    if (isHeldInput(tensor.name)) shapes.push_back({tensor.name, tensor.dtype, tensor.shape});
  std::sort(shapes.begin(), shapes.end(), [](const InputShape& a, const InputShape& b) { return a.name < b.name; });
  return shapes;
}

Result<std::vector<RawTensor>> heldSlices(const std::string& path, const SampleSlices& slices) {
  const auto tensors = model::heldTensors(path);
  if (!tensors) return tensors.error();
  for (const model::HeldTensor& tensor : tensors.value()) {
    if (tensor.name != slices.input) continue;
    if (auto fits = checkSlices({tensor.name, tensor.dtype, tensor.shape}, slices, path); !fits) return fits.error();
    const StridedTensor strided{tensor.name, tensor.dtype, tensor.shape, tensor.strides, static_cast<std::uint64_t>(tensor.offset) * base::sizeBytes(tensor.dtype)};
    return readStridedSamples(path, strided, slices, [&](const std::vector<model::StorageWindow>& windows) { return model::readStorage(path, tensor.storageKey, windows); });
  }
  return Error{ErrorKind::input, "is not in the file", path + ", " + slices.input, "the file is another one than the run's"};
}

}  // namespace

Result<std::vector<InputShape>> inputShapes(const std::string& path) {
  const auto kind = inputKindOf(path);
  if (!kind) return kind.error();
  switch (kind.value()) {
    case InputKind::hdf5: return h5::guardedRead(path, [&] { return h5InputShapes(path); });
    case InputKind::holder: return heldShapes(path);
    case InputKind::images: return imageShapes(path);
    default: return withArrays(path, kind.value(), shapesOf);
  }
}

Result<std::vector<RawTensor>> readSamples(const std::string& path, const SampleSlices& slices) {
  const auto kind = inputKindOf(path);
  if (!kind) return kind.error();
  switch (kind.value()) {
    case InputKind::hdf5: return h5::guardedRead(path, [&] { return readH5Samples(path, slices); });
    case InputKind::holder: return withinMemory(path, [&] { return heldSlices(path, slices); });
    case InputKind::images: return readImageSamples(path, slices);
    default: return withArrays(path, kind.value(), [&](const PlainArrays& file) { return samplesOf(file, slices); });
  }
}

}  // namespace ulpscope::storage
