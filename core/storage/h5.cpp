#include "core/storage/h5.h"

#include "core/base/json_text.h"
#include "core/storage/atomic_file.h"
#include "core/storage/h5_guard.h"
#include "core/storage/input_file.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace ulpscope::storage::h5 {
namespace {

using base::Error;
using base::ErrorKind;

// The innermost entry tells the cause; the outer ones only name the call.
herr_t takeInnermost(unsigned position, const H5E_error2_t* entry, void* text) {
  if (position == 0 && entry->desc) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

std::string innermostText() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, takeInnermost, &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

herr_t collectLink(hid_t, const char* name, const H5L_info_t* info, void* links) {
  static_cast<std::vector<LinkName>*>(links)->push_back({name, info->type});
  return 0;
}

void refuseUnlessHardLink(hid_t parent, const std::string& name) {
  if (!hasLink(parent, name)) fail("is missing", name, "the file is damaged or not of the kind expected");
  H5L_info_t info;
  check(H5Lget_info(parent, name.c_str(), &info, H5P_DEFAULT), "cannot be looked at", name);
  if (info.type != H5L_TYPE_HARD)
    fail(info.type == H5L_TYPE_SOFT ? "is a soft link" : "is a link out of the file", name,
         "links are not followed; store the data itself in this file");
}

// deflate cannot shrink more than about 1,032 times, so more than that was never stored.
void refuseUnstored(const Dataset& dataset, const std::string& name, std::size_t declared) {
  constexpr std::size_t kLargestRatio = 1100;
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (declared == 0) return;
  if (stored == 0) fail("was created but never written", name, "write its values first");
  if (declared > (std::size_t{1} << 26) && declared / kLargestRatio > stored)
    fail(fmt::format("declares {} bytes but the file stores only {} for it", declared, stored), name, "the file is damaged or hostile");
}

void refuseForeignLayout(const Dataset& dataset, const std::string& name) {
  const Plist plist(check(H5Dget_create_plist(dataset), "cannot be looked at", name));
  const char* remedy = "store the data itself in this file (h5py: f.create_dataset(name, data=array))";
  if (H5Pget_layout(plist) == H5D_VIRTUAL) fail("is a virtual dataset, its data lies in other files", name, remedy);
  if (check(H5Pget_external_count(plist), "cannot be looked at", name) > 0)
    fail("has external storage, its data lies in other files", name, remedy);
}

}  // namespace

void fail(const std::string& what, const std::string& which, const std::string& remedy) {
  throw Failure{Error{ErrorKind::input, what, which, remedy}};
}

void failFromHdf5(const std::string& what, const std::string& which) {
  const std::string text = innermostText();
  std::string remedy;
  if (text.find("unable to lock file") != std::string::npos)
    remedy = "another program has it open for writing, or the disk has no locks (then set HDF5_USE_FILE_LOCKING=FALSE)";
  else if (text.find("truncated") != std::string::npos)
    remedy = "the file was cut short; copy it again";
  throw Failure{Error{ErrorKind::input, what + ": " + text, which, remedy}};
}

Silence::Silence() {
  H5Eget_auto2(H5E_DEFAULT, &m_print, &m_data);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Silence::~Silence() { H5Eset_auto2(H5E_DEFAULT, m_print, m_data); }

nlohmann::json parsedJson(const std::string& text) {
  if (base::isTooDeep(text)) fail("holds JSON that is nested too deep", "", "the file is damaged: restore it from a copy");
  return nlohmann::json::parse(text);
}

std::mutex& libraryMutex() {
  static std::mutex mutex;
  return mutex;
}

base::Result<Integrity> checkFile(const std::string& path, std::uint64_t mostBytes) {
  if (const auto plain = checkPlainFile(path); !plain) return plain.error();
  if (!looksLikeHdf5(path)) return Error{ErrorKind::input, "is not an HDF5 file", path, "check that this is the file you meant"};
  return checkDigest(path, mostBytes);
}

base::Status checkFinished(const std::string& path) {
  if (const auto plain = checkPlainFileNoLink(path); !plain) return plain;
  if (!looksLikeHdf5(path)) return Error{ErrorKind::input, "is not an HDF5 file", path, "check that this is the file you meant"};
  if (!endsInDigest(path)) return Error{ErrorKind::input, "is not finished, or another program changed it", path, "restore it from a copy"};
  return base::success();
}

File createInMemory() {
  constexpr std::size_t kGrowth = std::size_t{1} << 20;
  const Plist access(check(H5Pcreate(H5P_FILE_ACCESS), "cannot be made"));
  check(H5Pset_fapl_core(access, kGrowth, 0), "cannot be made");
  check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), "cannot be made");
  return File(check(H5Fcreate("ulpscope-in-memory", H5F_ACC_TRUNC, H5P_DEFAULT, access), "cannot be made"));
}

std::vector<std::byte> imageOf(const File& file) {
  check(H5Fflush(file, H5F_SCOPE_GLOBAL), "cannot be finished");
  const ssize_t size = check(H5Fget_file_image(file, nullptr, 0), "cannot be finished");
  std::vector<std::byte> image;
  image.reserve(static_cast<std::size_t>(size) + kTrailerBytes);  // so that the digest moves nothing
  image.resize(static_cast<std::size_t>(size));
  check(H5Fget_file_image(file, image.data(), image.size()), "cannot be finished");
  appendDigest(image);
  return image;
}

File openForReading(const std::string& path, Locking locking) {
  const Plist access(check(H5Pcreate(H5P_FILE_ACCESS), "cannot be opened", path));
#if H5_VERSION_GE(1, 10, 7)
  check(H5Pset_file_locking(access, locking == Locking::asConfigured, 1), "cannot be opened", path);
#endif
  return File(check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), "cannot be opened", path));
}

std::vector<LinkName> links(hid_t group) {
  std::vector<LinkName> names;
  check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collectLink, &names), "cannot be listed");
  return names;
}

bool hasLink(hid_t parent, const std::string& name) {
  return check(H5Lexists(parent, name.c_str(), H5P_DEFAULT), "cannot be looked for", name) > 0;
}

Group openGroup(hid_t parent, const std::string& name) {
  refuseUnlessHardLink(parent, name);
  return Group(check(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), "is no group", name));
}

Dataset openDataset(hid_t parent, const std::string& name) {
  refuseUnlessHardLink(parent, name);
  Dataset dataset(check(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), "is no dataset", name));
  refuseForeignLayout(dataset, name);
  const Type type(check(H5Dget_type(dataset), "has no readable type", name));
  refuseUnstored(dataset, name, byteCount(shapeOf(dataset, name), H5Tget_size(type), name));
  return dataset;
}

std::vector<std::int64_t> shapeOf(const Dataset& dataset, const std::string& name) {
  const Space space(check(H5Dget_space(dataset), "has no readable shape", name));
  if (H5Sget_simple_extent_type(space) == H5S_NULL) fail("has no data (a null dataspace)", name, "write an array, possibly of length 0");
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "has no readable shape", name);
  std::vector<std::int64_t> shape;
  for (int i = 0; i < rank; ++i) {
    if (sizes[static_cast<std::size_t>(i)] > static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max()))
      fail("has a dimension larger than any memory", name, "the file is damaged or hostile");
    shape.push_back(static_cast<std::int64_t>(sizes[static_cast<std::size_t>(i)]));
  }
  return shape;
}

std::size_t byteCount(const std::vector<std::int64_t>& shape, std::size_t elementSize, const std::string& name) {
  constexpr std::size_t kLargest = std::size_t{1} << 46;  // 64 TiB, below every product that could wrap
  std::size_t bytes = elementSize;
  for (const std::int64_t size : shape)
    if (size == 0) return 0;
  for (const std::int64_t size : shape) {
    if (static_cast<std::size_t>(size) > kLargest / bytes)
      fail("declares more elements than any memory can hold", name, "the file is damaged or hostile");
    bytes *= static_cast<std::size_t>(size);
  }
  return bytes;
}

}  // namespace ulpscope::storage::h5
