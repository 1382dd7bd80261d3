#include "core/storage/input_digest.h"

#include "core/base/hashing.h"
#include "core/storage/image_list.h"
#include "core/storage/image_preprocessing.h"

#include <filesystem>

namespace ulpscope::storage {

base::Result<std::string> inputsDigest(const std::string& path, std::stop_token stop) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return base::sha256OfFile(path, stop);
  if (const auto how = readPreprocessing(path); !how) return how.error();  // else any folder, however large, would be read
  const auto names = filesBelow(path);
  if (!names) return names.error();
  base::Sha256 hash;
  for (const std::string& name : names.value()) {
    const auto digest = base::sha256OfFile(path + "/" + name, stop);
    if (!digest) return digest.error();
    hash.update(digest.value() + "  ./" + name + "\n");
  }
  return hash.hexDigest();
}

}  // namespace ulpscope::storage
