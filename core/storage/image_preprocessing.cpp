#include "core/storage/image_preprocessing.h"

#include "core/base/json_text.h"
#include "core/base/nearest_names.h"
#include "core/base/number_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/file_windows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope::storage {
namespace {

using base::DType;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;
using nlohmann::json;

constexpr const char* kMinimal = R"({"resize": {"size": [224, 224], "filter": "bilinear"}, "channels": "RGB", "divide": 255, "layout": "NCHW", "dtype": "float32"})";
constexpr std::size_t kMostText = std::size_t{1} << 20;

// One key after the other; the first that is wrong is the error.
class Reader {
 public:
  Reader(const json& object, std::string path) : m_json(object), m_path(std::move(path)) {}

  Result<ImagePreprocessing> read() {
    for (const auto& step : {&Reader::keys, &Reader::channels, &Reader::layout, &Reader::dtype, &Reader::orientation, &Reader::resize, &Reader::crop, &Reader::scaling, &Reader::input})
      if (auto good = (this->*step)(); !good) return good.error();
    m_result.canonical = m_json.dump();
    return m_result;
  }

 private:
  Error wrong(const std::string& what, const std::string& key, const std::string& remedy) const { return Error{ErrorKind::input, what, m_path + ", " + key, remedy}; }
  const json* find(const char* key) const {
    const auto found = m_json.find(key);
    return found == m_json.end() ? nullptr : &*found;
  }

  Status keys() {
    static const std::vector<std::string> kKeys{"channels", "crop", "divide", "dtype", "exif_orientation", "input", "layout", "mean", "resize", "std"};
    for (const auto& [key, value] : m_json.items())
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) return wrong("means nothing", key, "use " + base::quotedChoice(base::nearestNames(key, kKeys)));
    return base::success();
  }

  // The place of the key's text among `words`.
  Result<std::size_t> choice(const char* key, const std::vector<std::string>& words) const {
    const json* value = find(key);
    if (!value) return wrong("is missing", key, "say " + base::quotedChoice(words));
    const auto at = value->is_string() ? std::find(words.begin(), words.end(), value->get<std::string>()) : words.end();
    if (at == words.end()) return wrong("is " + value->dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40), key, "use " + base::quotedChoice(words));
    return static_cast<std::size_t>(at - words.begin());
  }

  Status channels() {
    const auto at = choice("channels", {"RGB", "BGR", "grey"});
    if (!at) return at.error();
    m_result.channels = static_cast<ImagePreprocessing::Channels>(at.value());
    return base::success();
  }
  Status layout() {
    const auto at = choice("layout", {"NCHW", "NHWC"});
    if (!at) return at.error();
    m_result.layout = static_cast<ImagePreprocessing::Layout>(at.value());
    return base::success();
  }
  Status dtype() {
    static constexpr std::array<DType, 4> kTypes{DType::float32, DType::float16, DType::bfloat16, DType::uint8};
    const auto at = choice("dtype", {"float32", "float16", "bfloat16", "uint8"});
    if (!at) return at.error();
    m_result.dtype = kTypes[at.value()];
    return base::success();
  }
  Status orientation() {
    if (!find("exif_orientation")) return base::success();
    const auto at = choice("exif_orientation", {"ignore", "apply"});
    if (!at) return at.error();
    m_result.applyOrientation = at.value() == 1;
    return base::success();
  }

  static bool isSide(const json& value) { return value.is_number_integer() && value >= 1 && value <= kMostImageSide; }
  static std::optional<ImageSize> sizeOf(const json& value) {
    if (!value.is_array() || value.size() != 2 || !isSide(value[0]) || !isSide(value[1])) return std::nullopt;
    return ImageSize{value[0].get<int>(), value[1].get<int>()};
  }

  Status resize() {
    const json* value = find("resize");
    if (!value) return base::success();
    constexpr const char* kRemedy = R"(for instance {"size": [224, 224], "filter": "bilinear"}; "size": 256 is that of the shorter side; filters: bilinear, bicubic)";
    if (!value->is_object() || value->size() != 2 || !value->contains("size") || !value->contains("filter")) return wrong("is not an object of size and filter", "resize", kRemedy);
    const json &size = value->at("size"), &filter = value->at("filter");
    ImageResize resize;
    if (const auto both = sizeOf(size)) resize.size = *both;
    else if (isSide(size)) resize.shorterSide = size.get<int>();
    else return wrong(fmt::format("has no size from 1 to {}", kMostImageSide), "resize", kRemedy);
    if (filter != "bilinear" && filter != "bicubic") return wrong("has a filter that is not known", "resize", kRemedy);
    resize.filter = filter == "bilinear" ? ImageResize::Filter::bilinear : ImageResize::Filter::bicubic;
    m_result.resize = resize;
    return base::success();
  }

  Status crop() {
    const json* value = find("crop");
    if (!value) return base::success();
    m_result.crop = sizeOf(*value);
    return m_result.crop ? base::success() : Status(wrong("is no [height, width]", "crop", "for instance [224, 224]"));
  }

  // One number a channel.
  Status numbers(const char* key, std::vector<float>& to) {
    const json* value = find(key);
    if (!value) return base::success();
    const auto count = static_cast<std::size_t>(m_result.channelCount());
    const std::string remedy = count == 1 ? "for instance [0.5]" : "for instance [0.485, 0.456, 0.406]";
    if (!value->is_array() || value->size() != count) return wrong(fmt::format("is not a list of {}, one a channel", base::counted(static_cast<std::int64_t>(count), "number")), key, remedy);
    for (const json& number : *value) {
      const float entry = number.is_number() ? number.get<float>() : NAN;
      if (!std::isfinite(entry)) return wrong("holds what is no finite number", key, remedy);
      to.push_back(entry);
    }
    return base::success();
  }

  Status scaling() {
    if (m_result.dtype == DType::uint8) {
      for (const char* key : {"divide", "mean", "std"})
        if (find(key)) return wrong("does not go with dtype uint8, which keeps the pixels as they are", key, "leave it out, or use float32");
      return base::success();
    }
    const json* divide = find("divide");
    if (!divide) return wrong("is missing", "divide", "say 255 for values from 0 to 1, or 1 for those from 0 to 255");
    m_result.divide = divide->is_number() ? divide->get<float>() : 0;
    if (!std::isfinite(m_result.divide) || m_result.divide == 0) return wrong("is no finite number other than 0", "divide", "say 255 for values from 0 to 1");
    if (auto good = numbers("mean", m_result.mean); !good) return good;
    if (auto good = numbers("std", m_result.std); !good) return good;
    if (std::find(m_result.std.begin(), m_result.std.end(), 0.0F) != m_result.std.end()) return wrong("holds 0, which nothing can be divided by", "std", "write the standard deviations");
    return base::success();
  }

  Status input() {
    const json* value = find("input");
    if (!value) return base::success();
    if (!value->is_string() || value->get<std::string>().empty()) return wrong("is no name", "input", "write the name of forward's argument, or leave it out");
    m_result.input = value->get<std::string>();
    return base::success();
  }

  const json& m_json;
  std::string m_path;
  ImagePreprocessing m_result;
};

}  // namespace

Result<ImagePreprocessing> readPreprocessing(const std::string& folder) {
  const std::string path = folder + "/" + kPreprocessingFile;
  if (!exists(path))
    return Error{ErrorKind::input, "is a folder without a preprocessing.json, which says what is done to its images", folder, std::string("write one, for instance: ") + kMinimal};
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  const auto text = startOfFile(path, kMostText);
  if (!text) return text.error();
  const std::string remedy = std::string("write for instance: ") + kMinimal;
  const auto parsed = base::readJson(text.value(), {path, remedy});
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return Error{ErrorKind::input, "is no JSON object", path, remedy};
  return Reader(parsed.value(), path).read();
}

ImageSize resizedSize(const ImageResize& resize, ImageSize from) {
  if (resize.shorterSide == 0) return resize.size;
  const auto longer = [&](int longSide, int shortSide) { return static_cast<int>(std::min<double>(static_cast<double>(resize.shorterSide) * longSide / shortSide, std::numeric_limits<int>::max())); };
  if (from.width <= from.height) return {longer(from.height, from.width), resize.shorterSide};
  return {resize.shorterSide, longer(from.width, from.height)};
}

}  // namespace ulpscope::storage
