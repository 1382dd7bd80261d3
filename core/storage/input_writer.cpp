#include "core/storage/input_writer.h"

#include "core/storage/atomic_file.h"
#include "core/storage/capture_types.h"
#include "core/storage/h5_data.h"
#include "core/storage/h5_guard.h"

namespace ulpscope::storage {
namespace {

constexpr mode_t kFileMode = 0644;

std::vector<std::byte> imageFor(const InputFile& input) {
  const h5::File file = h5::createInMemory();
  for (const RawTensor& tensor : input.inputs) h5::writeArray(file, tensor.name, typeOf(tensor.dtype), tensor.shape, tensor.bytes.data());
  if (!input.sampleIds.empty()) h5::writeColumn(file, "sample_ids", input.sampleIds);
  if (!input.labels.empty()) h5::writeColumn(file, "labels", input.labels);
  if (!input.classNames.empty()) h5::writeColumn(file, "class_names", input.classNames);
  if (!input.kinds.empty()) h5::writeColumn(file, "sample_kinds", input.kinds);
  if (!input.preprocessing.empty()) h5::writeText(file, "preprocessing", input.preprocessing);
  return h5::imageOf(file);
}

}  // namespace

base::Status writeInputFile(const std::string& path, const InputFile& input) {
  const auto image = h5::guarded(path, [&] { return imageFor(input); });
  if (!image) return image.error();
  return writeWhole(path, image.value(), kFileMode);
}

}  // namespace ulpscope::storage
