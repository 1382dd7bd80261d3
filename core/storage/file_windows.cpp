#include "core/storage/file_windows.h"

#include "core/storage/atomic_file.h"

#include <filesystem>
#include <fstream>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

Error unreadable(const std::string& path) { return Error{ErrorKind::input, "cannot be read to its end", path, "check the disk"}; }

}  // namespace

Result<std::uint64_t> sizeOfFile(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) return unreadable(path);
  return std::uint64_t{size};
}

Result<std::string> startOfFile(const std::string& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  if (file.bad() || (file.gcount() == 0 && !file.eof())) return unreadable(path);
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

Result<Buffers> readFileWindows(const std::string& path, const std::vector<model::StorageWindow>& windows) {
  const auto size = sizeOfFile(path);
  if (!size) return size.error();
  std::ifstream file(path, std::ios::binary);
  Buffers buffers;
  for (const model::StorageWindow& window : windows) {
    if (window.first > size.value() || window.count > size.value() - window.first) return Error{ErrorKind::input, "became shorter while it was read", path, "leave the file alone meanwhile"};
    std::vector<std::byte>& buffer = buffers.emplace_back(window.count);
    if (window.count == 0) continue;
    file.seekg(static_cast<std::streamoff>(window.first));
    if (!file.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(window.count))) return unreadable(path);
  }
  return buffers;
}

}  // namespace ulpscope::storage
