#include "core/storage/input_file.h"

#include "core/storage/array_inputs.h"
#include "core/storage/atomic_file.h"
#include "core/storage/file_windows.h"
#include "core/storage/h5_data.h"
#include "core/storage/h5_guard.h"
#include "core/storage/h5_inputs.h"
#include "core/storage/image_folder.h"
#include "core/storage/input_kind.h"
#include "core/storage/open_arrays.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

// Lines without their ends; a last empty line does not count.
Result<std::vector<std::string>> readLines(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find('\0') != std::string::npos || !h5::isUtf8(line))
      return Error{ErrorKind::input, "is no UTF-8 text", path, "give a text file with one entry a line"};
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

// Labels and class names may be text; of other files the kind decides.
bool isText(const std::string& path) {
  constexpr std::size_t kLookedAt = 16;
  const auto start = startOfFile(path, kLookedAt);
  const auto isPrintable = [](unsigned char c) { return c >= ' ' || c == '\t' || c == '\r' || c == '\n'; };
  return start && std::all_of(start->begin(), start->end(), isPrintable) && !looksLikeHdf5(path);
}

Error noTruth(const std::string& path) {
  return Error{ErrorKind::input, "is a TorchScript archive", path, "give HDF5, npz, npy, safetensors, or a text file with one entry a line"};
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
  const auto kind = inputKindOf(path);
  if (!kind) return kind.error();
  switch (kind.value()) {
    case InputKind::hdf5: return h5::guardedRead(path, [&] { return readH5Inputs(path); });
    case InputKind::images: return readImageFolder(path);
    case InputKind::holder: return Error{ErrorKind::input, "is a TorchScript archive, which LibTorch alone reads", path, "give it to the engine"};
    default: return withArrays(path, kind.value(), inputsOf);
  }
}

Result<Truth> readTruth(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  if (isText(path)) return truthOfText(path);
  const auto kind = inputKindOf(path);
  if (!kind) return kind.error();
  if (kind.value() == InputKind::hdf5) return h5::guardedRead(path, [&] { return readH5Truth(path); });
  if (kind.value() == InputKind::holder) return noTruth(path);
  return withArrays(path, kind.value(), truthOf);
}

Result<std::vector<std::string>> readClassNames(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  if (isText(path)) return readLines(path);
  const auto kind = inputKindOf(path);
  if (!kind) return kind.error();
  if (kind.value() == InputKind::hdf5) return h5::guardedRead(path, [&] { return readH5ClassNames(path); });
  if (kind.value() == InputKind::holder) return noTruth(path);
  return withArrays(path, kind.value(), classNamesOf);
}

}  // namespace ulpscope::storage
