#include "core/storage/input_kind.h"

#include "core/base/shell_word.h"
#include "core/model/archive_records.h"
#include "core/storage/file_windows.h"
#include "core/storage/image_preprocessing.h"
#include "core/storage/input_file.h"
#include "core/storage/npy_header.h"

#include <cstring>
#include <filesystem>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using model::ZipArchive;

constexpr std::size_t kLookedAt = 512;

// torch.load reads all that torch.save wrote; numpy.savez takes tensors, lists of texts and numbers alike.
Error pickleError(const std::string& path, bool isTorch) {
  const std::string load = isTorch ? "import numpy, sys, torch; d = torch.load(sys.argv[1], map_location='cpu'); " : "import numpy, pickle, sys; d = pickle.load(open(sys.argv[1], 'rb')); ";
  const std::string save = "numpy.savez(sys.argv[2], **d) if isinstance(d, dict) else numpy.savez(sys.argv[2], *(d if isinstance(d, (list, tuple)) else [d]))";
  constexpr std::size_t kShownWhole = 150;  // an error's longer words are cut
  const std::filesystem::path whole(path);
  const bool isLong = path.size() > kShownWhole;
  const std::string source = isLong ? whole.filename().string() : path, target = std::filesystem::path(source).replace_extension(".npz").string();
  return Error{ErrorKind::input, isTorch ? "is a pickle of torch.save, which can run any code when it is read" : "is a pickle, which can run any code when it is read", path,
               std::string("if you trust it, convert it") + (isLong ? " in its folder" : "") + ": python3 -c \"" + load + save + "\" " + base::shellWord(source) + " " + base::shellWord(target)};
}

bool isLegacyTorch(const std::string& start) {
  static const std::string kMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14);  // torch/serialization.py, MAGIC_NUMBER at protocol 2
  return start.starts_with(kMagic);
}

bool isPickle(const std::string& start) { return start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5; }

// The name in the first record's header, which follows 30 bytes (APPNOTE.TXT 4.3.7).
bool beginsWithArray(const std::string& start) {
  constexpr std::size_t kName = 30;
  if (start.size() < kName) return false;
  const std::size_t length = static_cast<unsigned char>(start[26]) | static_cast<std::size_t>(static_cast<unsigned char>(start[27])) << 8;
  return start.substr(kName, length).ends_with(".npy");
}

Result<InputKind> zipKind(const std::string& path, const std::string& start) {
  if (beginsWithArray(start)) return InputKind::npz;
  const auto archive = ZipArchive::open(path);
  if (!archive) return archive.error();
  if (archive->records().empty()) return Error{ErrorKind::input, "holds no inputs (an empty zip archive)", path, "store each argument of forward as an array of that name"};
  const model::Records records = model::recordsBelowRoot(archive.value());
  bool hasCode = records.contains("constants.pkl");
  for (const auto& [name, record] : records) hasCode = hasCode || name.starts_with("code/");
  if (records.contains("data.pkl") && !hasCode) return pickleError(path, true);
  if (hasCode) return InputKind::holder;
  for (const model::ZipRecord& record : archive->records())
    if (record.name.ends_with(".npy")) return InputKind::npz;
  return InputKind::holder;
}

// A length that text would not be, then the header's brace.
bool looksLikeSafetensors(const std::string& start) {
  constexpr std::uint64_t kNoText = std::uint64_t{1} << 40;
  std::uint64_t length = 0;
  if (start.size() < sizeof length + 1) return false;
  std::memcpy(&length, start.data(), sizeof length);
  return length < kNoText && start[sizeof length] == '{';
}

bool isImage(const std::string& start) { return start.starts_with("\x89PNG") || start.starts_with("\xff\xd8\xff"); }

}  // namespace

bool isImageFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) && std::filesystem::is_regular_file(path + "/" + kPreprocessingFile, ignored);
}

Result<InputKind> inputKindOf(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return InputKind::images;
  if (const auto size = sizeOfFile(path); !size) return size.error();
  const auto start = startOfFile(path, kLookedAt);
  if (!start) return start.error();
  if (looksLikeNpy(start.value())) return InputKind::npy;
  if (start->starts_with("PK\3\4") || start->starts_with("PK\5\6")) return zipKind(path, start.value());
  if (looksLikeHdf5(path)) return InputKind::hdf5;
  if (isPickle(start.value())) return pickleError(path, isLegacyTorch(start.value()));
  if (looksLikeSafetensors(start.value())) return InputKind::safetensors;
  if (isImage(start.value())) return Error{ErrorKind::input, "is one image; inputs are a folder of them", path, "name the folder, with a preprocessing.json in it"};
  return Error{ErrorKind::input, "is no inputs file", path, "give HDF5, npz, npy, safetensors, tensors saved as `ulpscope snippet` shows, or a folder of images"};
}

}  // namespace ulpscope::storage
