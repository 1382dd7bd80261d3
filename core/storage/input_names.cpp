#include "core/storage/input_names.h"

#include "core/base/size_text.h"
#include "core/storage/plain_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::array<const char*, 6> kNoTensors{"sample_ids", "labels", "class_names", "sample_kinds", "preprocessing", "expected"};
constexpr std::string_view kPositional = "arr_";

}  // namespace

bool isTensorName(const std::string& name) {
  return !expectedOutput(name) && std::none_of(kNoTensors.begin(), kNoTensors.end(), [&](const char* other) { return name == other; });
}

bool isInputName(const std::string& name) { return name != "targets" && isTensorName(name); }

std::optional<std::string> expectedOutput(const std::string& name) {
  constexpr std::size_t kLength = 9;
  if ((name.starts_with("expected/") || name.starts_with("expected.")) && name.size() > kLength) return name.substr(kLength);
  return std::nullopt;
}

std::optional<std::vector<std::string>> positionalNames(std::vector<std::string> names) {
  std::vector<std::string> ordered(names.size());
  for (std::string& name : names) {
    std::size_t number = 0;
    const char* end = name.data() + name.size();
    if (!name.starts_with(kPositional) || std::from_chars(name.data() + kPositional.size(), end, number).ptr != end) return std::nullopt;
    if (number >= ordered.size() || !ordered[number].empty() || name != fmt::format("{}{}", kPositional, number)) return std::nullopt;
    ordered[number] = std::move(name);
  }
  return ordered.empty() ? std::nullopt : std::optional(std::move(ordered));
}

bool hasControls(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]), next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next >= 0x80 && next < 0xa0)) return true;
  }
  return false;
}

base::Status checkSampleIds(const std::vector<std::string>& ids, const std::string& place) {
  constexpr const char* kOwn = "give every sample a name of its own";
  std::unordered_set<std::string> seen;
  for (const std::string& id : ids) {
    if (id.empty()) return Error{ErrorKind::input, "holds an empty id", place, kOwn};
    if (hasControls(id)) return Error{ErrorKind::input, "holds an id with control characters (number " + std::to_string(&id - ids.data()) + ", counted from 0)", place, kOwn};
    if (!seen.insert(id).second) return Error{ErrorKind::input, "holds '" + id + "' twice", place, kOwn};
  }
  return base::success();
}

base::Status checkSlices(const InputShape& shape, const SampleSlices& slices, const std::string& path) {
  constexpr const char* kOther = "the file is another one than the run's";
  const auto refuse = [&](const std::string& what, const std::string& remedy = "") { return Error{ErrorKind::input, what, path + ", " + slices.input, remedy}; };
  if (slices.axis < -1 || slices.axis >= static_cast<int>(shape.shape.size())) return refuse(fmt::format("has no axis {} to count samples", slices.axis), kOther);
  std::vector<std::int64_t> one = shape.shape;
  if (slices.axis >= 0) {
    auto& count = one[static_cast<std::size_t>(slices.axis)];
    for (const std::int64_t sample : slices.samples)
      if (sample < 0 || sample >= count) return refuse(fmt::format("has no sample {}, only {}", sample, count), kOther);
    count = 1;
  }
  const auto bytes = byteCount(one, base::sizeBytes(shape.dtype));
  if (!bytes) return refuse("declares more elements than any memory can hold", "the file is damaged or hostile");
  if (*bytes > slices.mostBytes) return refuse(fmt::format("has samples of {}, more than is read for a picture ({})", base::sizeText(*bytes), base::sizeText(slices.mostBytes)));
  return base::success();
}

}  // namespace ulpscope::storage
