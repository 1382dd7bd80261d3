#include "core/model/held_tensors.h"

#include "core/model/archive_records.h"
#include "core/model/pickle_scan.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ulpscope::model {
namespace {

using base::DType;
using base::Error;
using base::ErrorKind;
using base::Result;

constexpr const char* kSave = "save the inputs as ulpscope snippet shows";

struct StorageDType {
  const char* storageClass;
  DType dtype;
};

constexpr StorageDType kStorageDTypes[] = {
    {"DoubleStorage", DType::float64}, {"FloatStorage", DType::float32}, {"HalfStorage", DType::float16}, {"BFloat16Storage", DType::bfloat16},
    {"LongStorage", DType::int64},     {"IntStorage", DType::int32},     {"ShortStorage", DType::int16},  {"CharStorage", DType::int8},
    {"ByteStorage", DType::uint8},     {"BoolStorage", DType::boolean},  {"ComplexFloatStorage", DType::complex64}, {"ComplexDoubleStorage", DType::complex128}};

std::optional<DType> dtypeOf(const std::string& storageClass) {
  for (const StorageDType& known : kStorageDTypes)
    if (storageClass == known.storageClass) return known.dtype;
  return std::nullopt;
}

Result<std::string> textOf(const std::string& path, const ZipArchive& archive, const std::string& name) {
  const Records records = recordsBelowRoot(archive);
  const auto found = records.find(name);
  if (found == records.end()) return Error{ErrorKind::input, "holds no saved module (it has no " + name + ")", path, kSave};
  return readText(archive, found->second);
}

// The part of a window that a piece of the record, which begins at byte `at`, holds.
void copyOverlap(std::string_view piece, std::uint64_t at, const StorageWindow& window, std::vector<std::byte>& bytes) {
  const std::uint64_t begin = std::max(at, window.first), end = std::min(at + piece.size(), window.first + window.count);
  if (begin < end) std::memcpy(bytes.data() + (begin - window.first), piece.data() + (begin - at), end - begin);
}

}  // namespace

Result<std::vector<HeldTensor>> heldTensors(const std::string& path) {
  const auto archive = ZipArchive::open(path);
  if (!archive) return archive.error();
  if (const auto order = textOf(path, archive.value(), "byteorder"); order.ok() && order.value() != "little")
    return Error{ErrorKind::input, "was saved on a big-endian machine, its values would be misread", path, "save it on a little-endian machine"};
  const auto pickle = textOf(path, archive.value(), "data.pkl");
  if (!pickle) return pickle.error();
  const auto contents = scanPickle(pickle.value());
  if (!contents) return contents.error().within(path + ", data.pkl");
  std::vector<HeldTensor> tensors;
  for (const PickledTensor& member : contents->members)
    if (const auto dtype = dtypeOf(member.storageClass)) tensors.push_back({member.name, *dtype, member.sizes, member.strides, member.offset, member.storageKey});
  return tensors;
}

Result<std::vector<std::vector<std::byte>>> readStorage(const std::string& path, const std::string& storageKey, const std::vector<StorageWindow>& windows) {
  const auto archive = ZipArchive::open(path);
  if (!archive) return archive.error();
  const Records records = recordsBelowRoot(archive.value());
  const auto record = records.find("data/" + storageKey);
  if (record == records.end()) return Error{ErrorKind::input, "declares the storage '" + storageKey + "', which the archive does not have", path, "copy the file again"};
  std::vector<std::vector<std::byte>> buffers;
  for (const StorageWindow& window : windows) {
    if (window.first > record->second.sizeBytes || window.count > record->second.sizeBytes - window.first)
      return Error{ErrorKind::input, "ends before its tensor does", path + ", data/" + storageKey, "copy the file again"};
    buffers.emplace_back(window.count);
  }
  std::uint64_t at = 0;
  const auto copy = [&](std::string_view piece) {
    for (std::size_t i = 0; i < windows.size(); ++i) copyOverlap(piece, at, windows[i], buffers[i]);
    at += piece.size();
  };
  if (auto status = archive->read(record->second, copy); !status) return status.error();
  return buffers;
}

}  // namespace ulpscope::model
