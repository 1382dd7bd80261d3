#include "core/storage/strided_samples.h"

#include "core/base/size_text.h"
#include "core/storage/strided_copy.h"

#include <algorithm>

namespace ulpscope::storage {
namespace {

// One sample: what is left of a tensor without the axis that counts them.
struct SampleLayout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t step = 0;  // elements from one sample to the next
  std::size_t elementBytes = 0;
};

SampleLayout layoutOf(const StridedTensor& tensor, int axis) {
  SampleLayout layout{tensor.shape, tensor.strides, 0, base::sizeBytes(tensor.dtype)};
  if (axis < 0) return layout;
  layout.step = tensor.strides[static_cast<std::size_t>(axis)];
  layout.shape.erase(layout.shape.begin() + axis);
  layout.strides.erase(layout.strides.begin() + axis);
  return layout;
}

std::size_t valueBytes(const SampleLayout& layout) {
  std::size_t bytes = layout.elementBytes;
  for (const std::int64_t size : layout.shape) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

// From a sample's first element to its last; it has one. The tensor lies inside its storage, which was checked.
std::size_t spanBytes(const SampleLayout& layout) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < layout.shape.size(); ++i) last += (layout.shape[i] - 1) * layout.strides[i];
  return static_cast<std::size_t>(last + 1) * layout.elementBytes;
}

RawTensor sampleFrom(const std::byte* first, const StridedTensor& tensor, const SampleLayout& layout) {
  RawTensor sample{tensor.name, tensor.dtype, layout.shape, std::vector<std::byte>(valueBytes(layout))};
  StridedCopy(first, layout.elementBytes, layout.shape, layout.strides).next(sample.bytes.data(), sample.bytes.size());
  return sample;
}

std::uint64_t firstByte(const StridedTensor& tensor, const SampleLayout& layout, std::int64_t sample) {
  return tensor.firstByte + static_cast<std::uint64_t>(sample * layout.step) * layout.elementBytes;
}

// One window for all of them, from the first sample's first byte to the last one's last.
model::StorageWindow windowOver(const StridedTensor& tensor, const SampleLayout& layout, const std::vector<std::int64_t>& samples) {
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  const std::uint64_t first = firstByte(tensor, layout, *least);
  return {first, firstByte(tensor, layout, *most) + spanBytes(layout) - first};
}

std::vector<model::StorageWindow> windowsOf(const StridedTensor& tensor, const SampleLayout& layout, const std::vector<std::int64_t>& samples) {
  std::vector<model::StorageWindow> windows;
  for (const std::int64_t sample : samples) windows.push_back({firstByte(tensor, layout, sample), spanBytes(layout)});
  return windows;
}

}  // namespace

base::Result<std::vector<RawTensor>> readStridedSamples(const std::string& path, const StridedTensor& tensor, const SampleSlices& slices, const WindowReader& read) {
  if (slices.samples.empty()) return std::vector<RawTensor>();
  const SampleLayout layout = layoutOf(tensor, slices.axis);
  if (valueBytes(layout) == 0) return std::vector<RawTensor>(slices.samples.size(), {tensor.name, tensor.dtype, layout.shape, {}});
  if (slices.axis < 0) {
    const auto whole = read({{firstByte(tensor, layout, 0), spanBytes(layout)}});
    if (!whole) return whole.error();
    return std::vector<RawTensor>(slices.samples.size(), sampleFrom(whole->front().data(), tensor, layout));
  }
  const bool inOnePiece = spanBytes(layout) <= valueBytes(layout);
  const model::StorageWindow all = windowOver(tensor, layout, slices.samples);
  if (!inOnePiece && all.count > slices.mostBytes)
    return base::Error{base::ErrorKind::input, "has samples that lie between each other over " + base::sizeText(all.count) + ", more than is read for a picture", path + ", " + tensor.name,
                       "save it with .contiguous(), samples along dimension 0"};
  const auto bytes = read(inOnePiece ? windowsOf(tensor, layout, slices.samples) : std::vector{all});
  if (!bytes) return bytes.error();
  std::vector<RawTensor> samples;
  for (std::size_t i = 0; i < slices.samples.size(); ++i) {
    const std::byte* first = inOnePiece ? bytes.value()[i].data() : bytes->front().data() + (firstByte(tensor, layout, slices.samples[i]) - all.first);
    samples.push_back(sampleFrom(first, tensor, layout));
  }
  return samples;
}

}  // namespace ulpscope::storage
