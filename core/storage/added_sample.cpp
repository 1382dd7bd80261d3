#include "core/storage/added_sample.h"

#include "core/base/number_text.h"
#include "core/model/positional_arguments.h"
#include "core/storage/atomic_file.h"
#include "core/storage/input_kind.h"
#include "core/storage/input_samples.h"
#include "core/storage/input_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr std::size_t kMostBytes = std::size_t{4} << 30;
constexpr const char* kOther = "the file is another one than the session's";

std::size_t bytesOf(const InputShape& input) {
  std::size_t bytes = base::sizeBytes(input.dtype);
  for (const std::int64_t size : input.shape) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

int axisOf(const SampleSource& source, const std::string& input) {
  const auto found = source.batchAxis.find(input);
  return found == source.batchAxis.end() ? 0 : found->second;
}

Error unfit(const SampleSource& source, const std::string& input, const std::string& what) { return {ErrorKind::input, what, source.inputsPath + ", " + input, kOther}; }

// `more` after the last entry of `axis`. Precondition: it fits.
void append(RawTensor& tensor, std::size_t axis, const RawTensor& more) {
  std::size_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= static_cast<std::size_t>(tensor.shape[d]);
  std::vector<std::byte> bytes;
  bytes.reserve(tensor.bytes.size() + more.bytes.size());
  const std::size_t old = outer == 0 ? 0 : tensor.bytes.size() / outer, added = outer == 0 ? 0 : more.bytes.size() / outer;
  const auto part = [](const RawTensor& of, std::size_t i, std::size_t size) { return std::pair(of.bytes.begin() + static_cast<std::ptrdiff_t>(i * size), of.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size)); };
  for (std::size_t i = 0; i < outer; ++i)
    for (const auto& [first, last] : {part(tensor, i, old), part(more, i, added)}) bytes.insert(bytes.end(), first, last);
  ++tensor.shape[axis];
  tensor.bytes = std::move(bytes);
}

Result<RawTensor> readWhole(const SampleSource& source, const std::string& input) {
  if (isImageFolder(source.inputsPath)) {  // images are read one by one, or all
    auto file = readInputFile(source.inputsPath);
    if (!file) return file.error();
    return std::move(file->inputs.front());
  }
  auto whole = readSamples(source.inputsPath, {input, -1, {0}, kMostBytes});
  if (!whole) return whole.error();
  return std::move(whole.value().front());
}

Result<RawTensor> extended(const SampleSource& source, const InputShape& input, const std::string& argument, const AddedSample& sample) {
  auto whole = readWhole(source, input.name);
  if (whole) whole.value().name = argument;
  const int axis = axisOf(source, argument);
  if (!whole || axis < 0) return whole;
  const auto at = static_cast<std::size_t>(axis);
  if (at >= input.shape.size() || input.shape[at] != static_cast<std::int64_t>(source.set.ids.size()))
    return unfit(source, input.name, fmt::format("does not hold {} on axis {}", base::counted(static_cast<std::int64_t>(source.set.ids.size()), "sample"), axis));
  const auto more = std::find_if(sample.inputs.begin(), sample.inputs.end(), [&](const RawTensor& each) { return each.name == argument; });
  if (more == sample.inputs.end()) return unfit(source, input.name, "is an input that the new sample does not have");
  std::vector<std::int64_t> shape = input.shape;
  shape.erase(shape.begin() + axis);
  if (more->dtype != input.dtype || more->shape != shape) return unfit(source, input.name, "has another dtype or shape than the new sample");
  append(whole.value(), at, *more);
  return whole;
}

InputFile describe(const session::SampleSet& set, const AddedSample& sample) {
  InputFile file;
  file.sampleIds = set.ids;
  file.sampleIds.push_back(sample.id);
  file.kinds = set.kinds.empty() ? std::vector<std::string>(set.ids.size(), "common") : set.kinds;
  file.kinds.push_back(sample.kind);
  file.classNames = set.classNames;
  file.preprocessing = set.preprocessing;
  if (sample.label && !set.labels.empty()) {
    file.labels = set.labels;
    file.labels.push_back(*sample.label);
  }
  return file;
}

Status checkPlace(const std::string& path, const SampleSource& source, const AddedSample& sample) {
  if (exists(path)) return Error{ErrorKind::usage, "exists already", path, "name a new file"};
  const auto& ids = source.set.ids;
  if (sample.id.empty() || std::find(ids.begin(), ids.end(), sample.id) != ids.end())
    return Error{ErrorKind::usage, "is no new name for a sample", "'" + sample.id + "'", "give it a name that no other has"};
  return base::success();
}

}  // namespace

Status writeWithSample(const std::string& path, const SampleSource& source, const AddedSample& sample) {
  if (const auto place = checkPlace(path, source, sample); !place) return place;
  const auto inputs = inputShapes(source.inputsPath);
  if (!inputs) return inputs.error();
  std::size_t bytes = 0;
  for (const InputShape& input : inputs.value()) bytes += bytesOf(input);
  if (bytes > kMostBytes) return Error{ErrorKind::input, "holds over 4 GiB, which do not fit into memory three times", source.inputsPath, "add the sample in Python"};
  InputFile file = describe(source.set, sample);
  for (std::size_t i = 0; i < inputs->size(); ++i) {
    const InputShape& input = inputs.value()[i];
    auto tensor = extended(source, input, model::argumentOf(input.name, i, source.arguments), sample);
    if (!tensor) return tensor.error();
    file.inputs.push_back(std::move(tensor).value());
  }
  return writeInputFile(path, file);
}

}  // namespace ulpscope::storage
