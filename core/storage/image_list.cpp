#include "core/storage/image_list.h"

#include "core/storage/h5_data.h"
#include "core/storage/image_preprocessing.h"

#include <algorithm>
#include <filesystem>

namespace ulpscope::storage {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

bool isPlainName(const std::string& name) {
  return h5::isUtf8(name) && std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7F || c == '\\'; });
}

// prefix: of the names, with its '/'.
Status addFiles(const fs::path& folder, const std::string& prefix, int depth, std::vector<std::string>& names) {
  constexpr int kDeepest = 16;
  if (depth == kDeepest) return Error{ErrorKind::input, "is nested deeper than 16 levels", folder.string(), "name the folder of the images themselves"};
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.')) continue;
    if (!isPlainName(name)) return Error{ErrorKind::input, "holds a file whose name is not UTF-8, or has a backslash or control characters", folder.string(), "rename it"};
    if (entry->is_symlink(ignored) && entry->is_directory(ignored)) return Error{ErrorKind::input, "is a link to a folder", entry->path().string(), "put the folder itself there"};
    if (!entry->is_directory(ignored)) names.push_back(prefix + name);
    else if (auto added = addFiles(entry->path(), prefix + name + "/", depth + 1, names); !added) return added;
  }
  if (failed) return Error{ErrorKind::input, "cannot be listed: " + failed.message(), folder.string(), "check its permissions"};
  return base::success();
}

struct Place {
  std::string className, folder, file;
  friend bool operator<(const Place& a, const Place& b) { return std::tie(a.className, a.folder, a.file) < std::tie(b.className, b.folder, b.file); }
};

Place placeOf(const std::string& name) {
  const std::size_t first = name.find('/'), last = name.rfind('/');
  if (first == std::string::npos) return {"", "", name};
  return {name.substr(0, first), name.substr(0, last), name.substr(last + 1)};
}

}  // namespace

Result<std::vector<std::string>> filesBelow(const std::string& folder) {
  std::vector<std::string> names;
  if (auto added = addFiles(folder, "", 0, names); !added) return added.error();
  std::sort(names.begin(), names.end());
  return names;
}

Result<ImageList> imagesIn(const std::string& folder) {
  const auto files = filesBelow(folder);
  if (!files) return files.error();
  std::vector<Place> places;
  for (const std::string& file : files.value())
    if (file != kPreprocessingFile) places.push_back(placeOf(file));
  std::sort(places.begin(), places.end());
  if (places.empty()) return Error{ErrorKind::input, "holds no images", folder, "put PNG or JPEG files there, or in a sub-folder a class"};
  if (places.front().className.empty() && !places.back().className.empty())
    return Error{ErrorKind::input, "holds images in itself ('" + places.front().file + "') and in sub-folders ('" + places.back().className + "')", folder, "put every image into the sub-folder of its class, or all into the folder"};
  ImageList list;
  for (const Place& place : places) {
    list.names.push_back(place.folder.empty() ? place.file : place.folder + "/" + place.file);
    if (place.className.empty()) continue;
    if (list.classNames.empty() || list.classNames.back() != place.className) list.classNames.push_back(place.className);
    list.labels.push_back(static_cast<std::int64_t>(list.classNames.size()) - 1);
  }
  return list;
}

}  // namespace ulpscope::storage
