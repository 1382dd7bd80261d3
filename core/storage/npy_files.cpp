#include "core/model/zip_archive.h"
#include "core/storage/array_files.h"
#include "core/storage/file_windows.h"
#include "core/storage/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using model::StorageWindow;
using model::ZipArchive;
using model::ZipRecord;

constexpr std::string_view kEnding = ".npy";

// The buffers grow with what is really there: a record may declare more than it holds.
void appendOverlap(std::string_view piece, std::uint64_t at, const StorageWindow& window, std::vector<std::byte>& buffer) {
  const std::uint64_t begin = std::max(at, window.first), end = std::min(at + piece.size(), window.first + window.count);
  if (begin >= end) return;
  const auto* first = reinterpret_cast<const std::byte*>(piece.data()) + (begin - at);
  buffer.insert(buffer.end(), first, first + (end - begin));
}

Result<Buffers> readRecordWindows(const ZipArchive& archive, const std::string& name, const std::vector<StorageWindow>& windows) {
  const auto& records = archive.records();
  const auto record = std::find_if(records.begin(), records.end(), [&](const ZipRecord& r) { return r.name == name; });
  ULPSCOPE_CHECK(record != records.end());
  Buffers buffers(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) buffers[i].reserve(windows[i].count);
  std::uint64_t at = 0;
  const auto copy = [&](std::string_view piece) {
    for (std::size_t i = 0; i < windows.size(); ++i) appendOverlap(piece, at, windows[i], buffers[i]);
    at += piece.size();
  };
  if (auto status = archive.read(*record, copy); !status) return status.error();
  return buffers;
}

Result<PlainArray> arrayIn(const ZipArchive& archive, const ZipRecord& record, const std::string& path) {
  if (!record.name.ends_with(kEnding) || record.name.size() == kEnding.size())
    return Error{ErrorKind::input, "is in the archive but no array (NAME.npy)", path + ", " + record.name, "keep inputs and other data apart"};
  const auto start = archive.head(record, kMostNpyHeader);
  if (!start) return start.error();
  auto array = readNpyHeader(start.value(), record.sizeBytes, path + ", " + record.name);
  if (!array) return array.error();
  array.value().name = record.name.substr(0, record.name.size() - kEnding.size());
  array.value().record = record.name;
  return array;
}

}  // namespace

Result<PlainArrays> openNpy(const std::string& path) {
  const auto size = sizeOfFile(path);
  if (!size) return size.error();
  const auto start = startOfFile(path, kMostNpyHeader);
  if (!start) return start.error();
  auto array = readNpyHeader(start.value(), size.value(), path);
  if (!array) return array.error();
  array.value().name = "arr_0";
  return PlainArrays{path, {std::move(array).value()}, {}, [path](const std::string&, const std::vector<StorageWindow>& windows) { return readFileWindows(path, windows); }};
}

Result<PlainArrays> openNpz(const std::string& path) {
  auto opened = ZipArchive::open(path, model::ZipUse::arrays);
  if (!opened) return opened.error();
  const auto archive = std::make_shared<const ZipArchive>(std::move(opened).value());
  PlainArrays file{path, {}, {}, [archive](const std::string& record, const std::vector<StorageWindow>& windows) { return readRecordWindows(*archive, record, windows); }};
  for (const ZipRecord& record : archive->records()) {
    auto array = arrayIn(*archive, record, path);
    if (!array) return array.error();
    file.arrays.push_back(std::move(array).value());
  }
  return file;
}

}  // namespace ulpscope::storage
