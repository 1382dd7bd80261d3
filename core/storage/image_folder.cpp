#include "core/storage/image_folder.h"

#include "core/base/float_formats.h"
#include "core/storage/file_windows.h"
#include "core/storage/image_list.h"
#include "core/storage/image_pixels.h"
#include "core/storage/input_names.h"
#include "core/storage/open_arrays.h"

#include <fmt/format.h>

#include <cstring>

namespace ulpscope::storage {
namespace {

using base::DType;
using base::Error;
using base::ErrorKind;
using base::Result;

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 28;
constexpr const char* kUnnamed = "images";

std::string sizeText(ImageSize size) { return fmt::format("{} x {} pixels", size.width, size.height); }

// A folder that is open: everything but the images' pixels.
struct OpenFolder {
  std::string path;
  ImagePreprocessing how;
  ImageList list;
  ImageSize size;  // of every prepared image

  std::string place(std::size_t image) const { return path + "/" + list.names[image]; }
  std::string inputName() const { return how.input.empty() ? kUnnamed : how.input; }
  std::vector<std::int64_t> shape() const {
    const std::int64_t count = static_cast<std::int64_t>(list.names.size()), channels = how.channelCount();
    if (how.layout == ImagePreprocessing::Layout::nchw) return {count, channels, size.height, size.width};
    return {count, size.height, size.width, channels};
  }
};

Result<std::string> fileBytes(const std::string& path) {
  const auto size = sizeOfFile(path);
  if (!size) return size.error();
  if (size.value() > kMostFileBytes) return Error{ErrorKind::input, fmt::format("is {} bytes long, more than is read of an image", size.value()), path, "save it smaller"};
  return startOfFile(path, static_cast<std::size_t>(size.value()));
}

// The stored size, or what becomes of it where the orientation is applied.
Result<ImageSize> uprightSize(const ImageHeader& header, const ImagePreprocessing& how, const std::string& place) {
  if (header.orientation != 1 && !how.applyOrientation)
    return Error{ErrorKind::input, fmt::format("has the EXIF orientation {}, and preprocessing.json does not say what to do with it", header.orientation), place,
                 "add \"exif_orientation\": \"ignore\" (as torchvision) or \"apply\""};
  const bool isTurned = header.orientation >= 5 && how.applyOrientation.value_or(false);
  return isTurned ? ImageSize{header.size.width, header.size.height} : header.size;
}

// Error for what would take more pixels on its way than an image may have, and for a crop that does not fit.
Result<ImageSize> preparedSize(ImageSize size, const ImagePreprocessing& how, const std::string& place) {
  const auto pixels = [](std::int64_t height, std::int64_t width) { return height * width; };
  if (how.resize) {
    const ImageSize to = resizedSize(*how.resize, size);
    if (to.height < 1 || to.width < 1 || to.height > kMostImageSide || to.width > kMostImageSide || pixels(size.height, to.width) > kMostPixels || pixels(to.height, to.width) > kMostPixels)
      return Error{ErrorKind::input, "has " + sizeText(size) + ", which cannot be resized to " + sizeText(to), place, "crop it, or resize it to less"};
    size = to;
  }
  if (!how.crop) return size;
  if (how.crop->height > size.height || how.crop->width > size.width)
    return Error{ErrorKind::input, "has " + sizeText(size) + " where " + sizeText(*how.crop) + " are to be cropped", place, "resize to more, or crop less"};
  return *how.crop;
}

void putFloat(float value, DType dtype, std::byte* to) {
  if (dtype == DType::float32) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const std::uint16_t bits = dtype == DType::float16 ? base::halfFromFloat(value) : base::bfloat16FromFloat(value);
  std::memcpy(to, &bits, sizeof bits);
}

// Pixels as the tensor's elements, scaled in float32 as ToTensor and Normalize do: divide, then less the mean, then by std.
void putElements(const Pixels& pixels, const ImagePreprocessing& how, std::byte* to) {
  const auto channels = static_cast<std::size_t>(pixels.channels), count = pixels.bytes.size() / channels, bytes = base::sizeBytes(how.dtype);
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t from = how.channels == ImagePreprocessing::Channels::bgr ? channels - 1 - c : c;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t pixel = pixels.bytes[i * channels + from];
      std::byte* place = to + (how.layout == ImagePreprocessing::Layout::nchw ? c * count + i : i * channels + c) * bytes;
      if (how.dtype == DType::uint8) {
        *place = std::byte{pixel};
        continue;
      }
      float value = static_cast<float>(pixel) / how.divide;
      if (!how.mean.empty()) value -= how.mean[c];
      if (!how.std.empty()) value /= how.std[c];
      putFloat(value, how.dtype, place);
    }
  }
}

Result<Pixels> preparedPixels(const OpenFolder& folder, std::size_t image) {
  const std::string place = folder.place(image);
  const ImagePreprocessing& how = folder.how;
  const auto file = fileBytes(place);
  if (!file) return file.error();
  auto decoded = decodeImage(file.value(), place);
  if (!decoded) return decoded.error();
  const auto upright = uprightSize({decoded->pixels.size, decoded->orientation}, how, place);
  if (!upright) return upright.error();
  const auto prepared = preparedSize(upright.value(), how, place);
  if (!prepared) return prepared.error();
  if (prepared.value() != folder.size)
    return Error{ErrorKind::input, "has " + sizeText(prepared.value()) + " where the first image has " + sizeText(folder.size), place, "add a resize or a crop to preprocessing.json"};
  Pixels pixels = std::move(decoded.value().pixels);
  if (how.applyOrientation.value_or(false)) pixels = oriented(std::move(pixels), decoded->orientation);
  pixels = withChannels(std::move(pixels), how.channelCount());
  if (how.resize) pixels = resized(pixels, resizedSize(*how.resize, pixels.size), how.resize->filter);
  return how.crop ? cropped(pixels, *how.crop) : pixels;
}

// The size is that of the first image, unless every image has the same by resize or crop.
Result<OpenFolder> openFolder(const std::string& path) {
  auto how = readPreprocessing(path);
  if (!how) return how.error();
  auto list = imagesIn(path);
  if (!list) return list.error();
  OpenFolder folder{path, std::move(how).value(), std::move(list).value(), {}};
  const auto file = fileBytes(folder.place(0));
  if (!file) return file.error();
  const auto header = readImageHeader(file.value(), folder.place(0));
  if (!header) return header.error();
  const auto upright = uprightSize(header.value(), folder.how, folder.place(0));
  if (!upright) return upright.error();
  const auto size = preparedSize(upright.value(), folder.how, folder.place(0));
  if (!size) return size.error();
  folder.size = size.value();
  return folder;
}

Result<InputFile> readAll(const std::string& path) {
  auto opened = openFolder(path);
  if (!opened) return opened.error();
  OpenFolder& folder = opened.value();
  RawTensor tensor{folder.inputName(), folder.how.dtype, folder.shape(), {}};
  const auto bytes = byteCount(tensor.shape, base::sizeBytes(tensor.dtype));
  if (!bytes) return Error{ErrorKind::input, "holds more images than any memory can hold", path, "use fewer, or a smaller resize"};
  const std::size_t oneBytes = *bytes / folder.list.names.size();
  tensor.bytes.reserve(*bytes);
  for (std::size_t i = 0; i < folder.list.names.size(); ++i) {
    const auto pixels = preparedPixels(folder, i);
    if (!pixels) return pixels.error();
    tensor.bytes.resize((i + 1) * oneBytes);
    putElements(pixels.value(), folder.how, tensor.bytes.data() + i * oneBytes);
  }
  InputFile input;
  input.inputs.push_back(std::move(tensor));
  input.sampleIds = std::move(folder.list.names);
  input.labels = std::move(folder.list.labels);
  input.classNames = std::move(folder.list.classNames);
  input.preprocessing = folder.how.canonical;
  input.isNamed = !folder.how.input.empty();
  return input;
}

Result<std::vector<RawTensor>> someImages(const std::string& path, const SampleSlices& slices) {
  const auto folder = openFolder(path);
  if (!folder) return folder.error();
  if (slices.input != folder->inputName()) return Error{ErrorKind::input, "is not what the images are called", path + ", " + slices.input, "the folder is another one than the run's"};
  if (slices.axis != 0) return Error{ErrorKind::input, "are counted along axis 0 alone", path + ", images", "the folder is another one than the run's"};
  std::vector<std::int64_t> shape = folder->shape();
  if (auto fits = checkSlices({slices.input, folder->how.dtype, shape}, slices, path); !fits) return fits.error();
  shape.erase(shape.begin());
  std::vector<RawTensor> tensors;
  for (const std::int64_t sample : slices.samples) {
    const auto pixels = preparedPixels(folder.value(), static_cast<std::size_t>(sample));
    if (!pixels) return pixels.error();
    RawTensor& tensor = tensors.emplace_back(RawTensor{slices.input, folder->how.dtype, shape, std::vector<std::byte>(pixels->bytes.size() * base::sizeBytes(folder->how.dtype))});
    putElements(pixels.value(), folder->how, tensor.bytes.data());
  }
  return tensors;
}

}  // namespace

Result<InputFile> readImageFolder(const std::string& folder) {
  return withinMemory(folder, [&] { return readAll(folder); });
}

Result<std::vector<InputShape>> imageShapes(const std::string& folder) {
  return withinMemory(folder, [&]() -> Result<std::vector<InputShape>> {
    const auto opened = openFolder(folder);
    if (!opened) return opened.error();
    return std::vector<InputShape>{{opened->inputName(), opened->how.dtype, opened->shape()}};
  });
}

Result<std::vector<RawTensor>> readImageSamples(const std::string& folder, const SampleSlices& slices) {
  return withinMemory(folder, [&] { return someImages(folder, slices); });
}

}  // namespace ulpscope::storage
