#include "core/storage/stored_tensors.h"

#include "core/storage/capture_types.h"
#include "core/storage/input_tensor.h"

#include <fmt/format.h>

namespace ulpscope::storage {
namespace {

std::string placeOf(std::size_t index) { return fmt::format("{:06}", index); }

h5::Dataset writeElements(hid_t parent, const std::string& place, const RawTensor& tensor) {
  if (tensor.shape.size() > H5S_MAX_RANK)
    h5::fail(fmt::format("has {} dimensions, HDF5 stores up to {}", tensor.shape.size(), H5S_MAX_RANK), tensor.name, "give it another shape");
  ULPSCOPE_CHECK(tensor.bytes.size() == h5::byteCount(tensor.shape, base::sizeBytes(tensor.dtype), tensor.name));
  h5::Dataset dataset = h5::writeArray(parent, place, typeOf(tensor.dtype), tensor.shape, tensor.bytes.data());
  h5::writeAttribute(dataset, "dtype", base::name(tensor.dtype));
  return dataset;
}

// No writer of ours stores fewer bytes than the shape has, or other ones than raw.
void refuseOtherBytes(const h5::Dataset& dataset, const std::string& place, std::size_t declared) {
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (stored != declared) h5::fail(fmt::format("stores {} bytes, its shape needs {}", stored, declared), place, "the file is damaged or hostile");
}

RawTensor readElements(const h5::Dataset& dataset, const std::string& place) {
  const h5::Type type(h5::check(H5Dget_type(dataset), "has no readable type", place));
  RawTensor tensor{place, dtypeOf(type, place), h5::shapeOf(dataset, place), {}};
  const std::size_t size = h5::byteCount(tensor.shape, base::sizeBytes(tensor.dtype), place);
  refuseOtherBytes(dataset, place, size);
  tensor.bytes.resize(size);
  if (size > 0) h5::check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.bytes.data()), "cannot be read", place);
  checkBools(tensor);
  return tensor;
}

}  // namespace

const std::string& checkedText(const std::string& text, const std::string& which) {
  if (!h5::isUtf8(text)) h5::fail("is not UTF-8", which, "give it another name");
  return text;
}

void writeTensor(hid_t parent, const std::string& place, const RawTensor& tensor) { writeElements(parent, place, tensor); }

RawTensor readStoredTensor(hid_t parent, const std::string& place) { return readElements(h5::openDataset(parent, place), place); }

void writeTensors(hid_t parent, const std::string& name, const std::vector<RawTensor>& tensors) {
  std::vector<const RawTensor*> pointers;
  for (const RawTensor& tensor : tensors) pointers.push_back(&tensor);
  writeTensors(parent, name, pointers);
}

void writeTensors(hid_t parent, const std::string& name, const std::vector<const RawTensor*>& tensors) {
  const h5::Group group = h5::createGroup(parent, name, "NXcollection");
  h5::writeAttribute(group, "count", static_cast<std::int64_t>(tensors.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    h5::writeAttribute(writeElements(group, placeOf(i), *tensors[i]), "name", checkedText(tensors[i]->name, name + ", " + placeOf(i)));
}

std::vector<RawTensor> readTensors(hid_t parent, const std::string& name) {
  const h5::Group group = h5::openGroup(parent, name);
  const auto stored = static_cast<std::int64_t>(h5::links(group).size());
  if (const std::int64_t count = h5::readIntegerAttribute(group, "count"); count != stored)
    h5::fail(fmt::format("holds {} tensors, {} expected", stored, count), name, "the file is damaged; restore it from a copy");
  std::vector<RawTensor> tensors;
  for (std::size_t i = 0; i < static_cast<std::size_t>(stored); ++i) {
    try {
      const h5::Dataset dataset = h5::openDataset(group, placeOf(i));
      tensors.push_back(readElements(dataset, placeOf(i)));
      tensors.back().name = h5::readTextAttribute(dataset, "name");
    } catch (const h5::Failure& failure) {
      throw h5::Failure{failure.error.within(name)};
    }
  }
  return tensors;
}

}  // namespace ulpscope::storage
