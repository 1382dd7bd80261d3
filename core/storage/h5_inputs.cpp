#include "core/storage/h5_inputs.h"

#include "core/storage/h5_data.h"
#include "core/storage/input_names.h"
#include "core/storage/input_tensor.h"
#include "core/storage/nexus_data.h"

#include <algorithm>

namespace ulpscope::storage {
namespace {

bool isGroup(hid_t parent, const std::string& name) {
  H5O_info_t info;
#if H5_VERSION_GE(1, 12, 0)
  h5::check(H5Oget_info_by_name3(parent, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), "cannot be looked at", name);
#else
  h5::check(H5Oget_info_by_name(parent, name.c_str(), &info, H5P_DEFAULT), "cannot be looked at", name);
#endif
  return info.type == H5O_TYPE_GROUP;
}

bool holdsIntegers(hid_t group, const std::string& name) {
  const h5::Dataset dataset = h5::openDataset(group, name);
  const h5::Type type(h5::check(H5Dget_type(dataset), "has no readable type", name));
  return H5Tget_class(type) == H5T_INTEGER;
}

std::vector<std::string> readSampleIds(hid_t group) {
  std::vector<std::string> ids;
  if (holdsIntegers(group, "sample_ids"))
    for (const std::int64_t id : h5::readIntegers(group, "sample_ids")) ids.push_back(std::to_string(id));
  else
    ids = h5::readTexts(group, "sample_ids");
  if (auto unique = checkSampleIds(ids, "sample_ids"); !unique) throw h5::Failure{unique.error()};
  return ids;
}

std::vector<RawTensor> readExpected(hid_t parent) {
  const h5::Group group = h5::openGroup(parent, "expected");
  std::vector<RawTensor> tensors;
  for (const h5::LinkName& link : h5::links(group)) tensors.push_back(readTensor(group, link.name));
  return tensors;
}

// What a name means that is no input's. False: it means nothing.
bool readReserved(hid_t group, const std::string& name, InputFile& input) {
  if (name == "sample_ids") input.sampleIds = readSampleIds(group);
  else if (name == "labels") input.labels = h5::readIntegers(group, "labels");
  else if (name == "class_names") input.classNames = h5::readTexts(group, "class_names");
  else if (name == "sample_kinds") input.kinds = h5::readTexts(group, "sample_kinds");
  else if (name == "preprocessing") input.preprocessing = h5::readText(group, "preprocessing");
  else if (name == "expected") input.expected = readExpected(group);
  else return false;
  return true;
}

// A session is NeXus too, but holds results.
void refuseOwnFiles(hid_t file) {
  if (!h5::hasAttribute(file, "file_format")) return;
  if (const std::string kind = h5::readTextAttribute(file, "file_format"); kind.starts_with("ulpscope-"))
    h5::fail("is a file of Ulpscope's own (" + kind + "), which holds results", "", "name the inputs that they come from");
}

bool isPlainInput(hid_t file, const h5::LinkName& link) { return isInputName(link.name) && (link.type != H5L_TYPE_HARD || !isGroup(file, link.name)); }

// Nothing: the inputs are datasets at the root.
std::optional<NexusData> nexusDataOf(hid_t file) {
  refuseOwnFiles(file);
  if (auto data = defaultNexusData(file)) return data;
  for (const h5::LinkName& link : h5::links(file))
    if (isPlainInput(file, link)) return std::nullopt;
  return onlyNexusData(file);
}

RawTensor readSignal(const LinkedDataset& signal) {
  RawTensor tensor = readTensor(signal.parent, signal.leaf);
  tensor.name = signal.name;
  return tensor;
}

InputFile readNexus(hid_t file, const NexusData& data) {
  InputFile input;
  for (const h5::LinkName& link : h5::links(file)) {
    if (!readReserved(file, link.name, input)) continue;
    if (h5::hasLink(data.group, link.name)) h5::fail("stands twice, at the root and in " + data.place, link.name, "leave one of them out");
  }
  for (const h5::LinkName& link : h5::links(data.group)) {
    const bool isSignal = std::any_of(data.signals.begin(), data.signals.end(), [&](const LinkedDataset& s) { return s.name == link.name; });
    if (link.name == "targets" && !isSignal) input.inputs.push_back(readTensor(data.group, "targets"));
    else if (!isSignal) readReserved(data.group, link.name, input);
  }
  for (const LinkedDataset& signal : data.signals) input.inputs.push_back(readSignal(signal));
  input.isNamed = data.signals.size() > 1;
  return input;
}

InputFile readPlainDatasets(hid_t file) {
  InputFile input;
  for (const h5::LinkName& link : h5::links(file)) {
    if (readReserved(file, link.name, input)) continue;
    if (link.type == H5L_TYPE_HARD && isGroup(file, link.name))
      h5::fail("is a group; inputs are datasets at the root, named as forward's arguments, or the signals of an NXdata", link.name, "move its arrays to the root");
    input.inputs.push_back(readTensor(file, link.name));
  }
  if (input.inputs.empty())
    h5::fail("holds no inputs", "", "store each argument of forward as a dataset of that name at the root (ulpscope snippet prints how)");
  return input;
}

InputShape shapeOfSignal(const LinkedDataset& signal) {
  InputShape shape = shapeOfTensor(signal.parent, signal.leaf);
  shape.name = signal.name;
  return shape;
}

std::vector<RawTensor> slicesOf(hid_t group, const std::string& leaf, const SampleSlices& slices, const std::string& path) {
  if (auto fits = checkSlices(shapeOfTensor(group, leaf), slices, path); !fits) throw h5::Failure{fits.error()};
  std::vector<RawTensor> tensors;
  if (slices.axis < 0) tensors.assign(slices.samples.size(), readTensor(group, leaf));
  else
    for (const std::int64_t sample : slices.samples) tensors.push_back(readSlice(group, leaf, slices.axis, sample));
  for (RawTensor& tensor : tensors) tensor.name = slices.input;
  return tensors;
}

// Where `labels`, `targets` and `class_names` stand: the root, or the NXdata.
template <typename Read>
auto readBeside(const std::string& path, std::initializer_list<const char*> names, Read read) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  const auto holdsOne = [&](hid_t group) { return std::any_of(names.begin(), names.end(), [&](const char* name) { return h5::has(group, name); }); };
  if (holdsOne(file)) return read(static_cast<hid_t>(file));
  if (const auto data = nexusDataOf(file); data && holdsOne(data->group)) return read(static_cast<hid_t>(data->group));
  return read(static_cast<hid_t>(file));
}

}  // namespace

InputFile readH5Inputs(const std::string& path) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  const auto data = nexusDataOf(file);
  return data ? readNexus(file, *data) : readPlainDatasets(file);
}

std::vector<InputShape> h5InputShapes(const std::string& path) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  std::vector<InputShape> shapes;
  if (const auto data = nexusDataOf(file)) {
    for (const LinkedDataset& signal : data->signals) shapes.push_back(shapeOfSignal(signal));
    return shapes;
  }
  for (const h5::LinkName& link : h5::links(file))
    if (isInputName(link.name)) shapes.push_back(shapeOfTensor(file, link.name));
  return shapes;
}

std::vector<RawTensor> readH5Samples(const std::string& path, const SampleSlices& slices) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  const auto data = nexusDataOf(file);
  if (!data) return slicesOf(file, slices.input, slices, path);
  for (const LinkedDataset& signal : data->signals)
    if (signal.name == slices.input) return slicesOf(signal.parent, signal.leaf, slices, path);
  h5::fail("is not among the signals of " + data->place, slices.input, "the file is another one than the run's");
}

Truth readH5Truth(const std::string& path) {
  return readBeside(path, {"labels", "targets"}, [](hid_t group) {
    Truth truth;
    if (!h5::has(group, "labels") && h5::has(group, "targets")) truth.targets = h5::readDoubles(group, "targets");
    else truth.labels = h5::readIntegers(group, "labels");
    return truth;
  });
}

std::vector<std::string> readH5ClassNames(const std::string& path) {
  return readBeside(path, {"class_names"}, [](hid_t group) { return h5::readTexts(group, "class_names"); });
}

}  // namespace ulpscope::storage
