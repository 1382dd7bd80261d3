// Private: which files a folder of images holds, in torchvision's ImageFolder's order.
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

struct ImageList {
  std::vector<std::string> names;      // relative paths, '/' between folders: the samples' ids
  std::vector<std::int64_t> labels;    // places in classNames; empty: the images lie in the folder itself
  std::vector<std::string> classNames;  // its sub-folders, sorted
};

// Every file but hidden ones, relative to `folder`, in byte order of the paths. Error kind input: a link to a folder, more than 16 levels, a name
// that is not UTF-8 or has control characters.
base::Result<std::vector<std::string>> filesBelow(const std::string& folder);
// Those but preprocessing.json: images in sub-folders, one a class, or in the folder itself; not both, and at least one.
base::Result<ImageList> imagesIn(const std::string& folder);

}  // namespace ulpscope::storage
