#include "core/storage/input_file.h"

#include "core/storage/atomic_file.h"
#include "core/storage/h5_data.h"
#include "core/storage/h5_guard.h"
#include "core/storage/input_tensor.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <unordered_set>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

bool holdsIntegers(hid_t group, const std::string& name) {
  const h5::Dataset dataset = h5::openDataset(group, name);
  const h5::Type type(h5::check(H5Dget_type(dataset), "has no readable type", name));
  return H5Tget_class(type) == H5T_INTEGER;
}

std::vector<std::string> readSampleIds(hid_t file) {
  std::vector<std::string> ids;
  if (holdsIntegers(file, "sample_ids"))
    for (const std::int64_t id : h5::readIntegers(file, "sample_ids")) ids.push_back(std::to_string(id));
  else
    ids = h5::readTexts(file, "sample_ids");
  std::unordered_set<std::string> seen;
  for (const std::string& id : ids) {
    if (id.empty()) h5::fail("holds an empty id", "sample_ids", "give every sample a name of its own");
    if (!seen.insert(id).second) h5::fail("holds '" + id + "' twice", "sample_ids", "give every sample a name of its own");
  }
  return ids;
}

bool isGroup(hid_t parent, const std::string& name) {
  H5O_info_t info;
#if H5_VERSION_GE(1, 12, 0)
  h5::check(H5Oget_info_by_name3(parent, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), "cannot be looked at", name);
#else
  h5::check(H5Oget_info_by_name(parent, name.c_str(), &info, H5P_DEFAULT), "cannot be looked at", name);
#endif
  return info.type == H5O_TYPE_GROUP;
}

std::vector<RawTensor> readExpected(hid_t file) {
  const h5::Group group = h5::openGroup(file, "expected");
  std::vector<RawTensor> tensors;
  for (const h5::LinkName& link : h5::links(group)) {
    tensors.push_back(readTensor(group, link.name));
  }
  return tensors;
}

void readEntry(hid_t file, const h5::LinkName& link, InputFile& input) {
  if (link.name == "sample_ids")
    input.sampleIds = readSampleIds(file);
  else if (link.name == "labels")
    input.labels = h5::readIntegers(file, "labels");
  else if (link.name == "class_names")
    input.classNames = h5::readTexts(file, "class_names");
  else if (link.name == "sample_kinds")
    input.kinds = h5::readTexts(file, "sample_kinds");
  else if (link.name == "preprocessing")
    input.preprocessing = h5::readText(file, "preprocessing");
  else if (link.name == "expected")
    input.expected = readExpected(file);
  else if (link.type == H5L_TYPE_HARD && isGroup(file, link.name))
    h5::fail("is a group; inputs are datasets at the root, named as forward's arguments", link.name, "move its arrays to the root");
  else
    input.inputs.push_back(readTensor(file, link.name));
}

InputFile readAll(const std::string& path) {
  const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
  InputFile input;
  for (const h5::LinkName& link : h5::links(file)) readEntry(file, link, input);
  if (input.inputs.empty())
    h5::fail("holds no inputs", "", "store each argument of forward as a dataset of that name at the root (ulpscope snippet prints how)");
  return input;
}

// Lines without their ends; a last empty line does not count.
Result<std::vector<std::string>> readLines(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find('\0') != std::string::npos || !h5::isUtf8(line))
      return Error{ErrorKind::input, "is neither HDF5 nor UTF-8 text", path, "give a text file with one entry a line"};
    lines.push_back(line);
  }
  if (file.bad()) return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"};
  return lines;
}

std::string stripped(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A whole number in each line: labels. A fraction somewhere: targets.
Result<Truth> truthOfText(const std::string& path) {
  const auto lines = readLines(path);
  if (!lines) return lines.error();
  Truth truth;
  bool whole = true;
  for (std::size_t i = 0; i < lines->size(); ++i) {
    const std::string text = stripped(lines.value()[i]);
    if (text.empty() && i + 1 == lines->size()) continue;
    const char* end = text.data() + text.size();
    std::int64_t label = 0;
    double target = 0;
    const auto asLabel = std::from_chars(text.data(), end, label);
    const auto asTarget = std::from_chars(text.data(), end, target);
    if (asTarget.ec != std::errc() || asTarget.ptr != end || !std::isfinite(target))
      return Error{ErrorKind::input, "'" + text.substr(0, 40) + "' is no number", path + ", line " + std::to_string(i + 1), "write one number a line: whole ones are classes"};
    whole = whole && asLabel.ec == std::errc() && asLabel.ptr == end;
    truth.labels.push_back(label);
    truth.targets.push_back(target);
  }
  whole ? truth.targets.clear() : truth.labels.clear();
  return truth;
}

template <typename T, typename Read>
Result<std::vector<T>> readFromHdf5(const std::string& path, const char* name, Read read) {
  return h5::guardedRead(path, [&] {
    const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
    return read(file, name);
  });
}

}  // namespace

bool looksLikeHdf5(const std::string& path) {
  static constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  constexpr std::streamoff kFirstUserBlock = 512, kLastLookedAt = std::streamoff{1} << 24;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 8> found{};
  // A user block of 512, 1024, 2048, ... bytes may stand before the signature (HDF5 file format, superblock).
  for (std::streamoff at = 0; at <= kLastLookedAt; at = at == 0 ? kFirstUserBlock : 2 * at) {
    if (!file.seekg(at) || !file.read(found.data(), found.size())) return false;
    if (found == kSignature) return true;
  }
  return false;
}

Result<InputFile> readInputFile(const std::string& path) {
  return h5::guardedRead(path, [&] { return readAll(path); });
}

Result<Truth> readTruth(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  if (!looksLikeHdf5(path)) return truthOfText(path);
  return h5::guardedRead(path, [&] {
    const h5::File file = h5::openForReading(path, h5::Locking::asConfigured);
    Truth truth;
    if (!h5::has(file, "labels") && h5::has(file, "targets"))
      truth.targets = h5::readDoubles(file, "targets");
    else
      truth.labels = h5::readIntegers(file, "labels");
    return truth;
  });
}

Result<std::vector<std::string>> readClassNames(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  if (!looksLikeHdf5(path)) return readLines(path);
  return readFromHdf5<std::string>(path, "class_names", [](hid_t file, const char* name) { return h5::readTexts(file, name); });
}

}  // namespace ulpscope::storage
