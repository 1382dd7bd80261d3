#include "core/storage/growing_file.h"

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>

namespace ulpscope::storage {
namespace {

// HDF5 hands it around as its own first member.
struct OpenFile {
  H5FD_t base;
  GrowingImage* image;
};

OpenFile* ours(H5FD_t* file) { return reinterpret_cast<OpenFile*>(file); }
const OpenFile* ours(const H5FD_t* file) { return reinterpret_cast<const OpenFile*>(file); }

H5FD_t* openFile(const char*, unsigned, hid_t access, haddr_t) {
  const void* info = H5Pget_driver_info(access);
  if (!info) return nullptr;
  auto* file = new (std::nothrow) OpenFile{};
  if (file) file->image = *static_cast<GrowingImage* const*>(info);
  return file ? &file->base : nullptr;
}

herr_t closeFile(H5FD_t* file) {
  delete ours(file);
  return 0;
}

int compareFiles(const H5FD_t* a, const H5FD_t* b) {
  const std::less<const GrowingImage*> before;
  return before(ours(a)->image, ours(b)->image) ? -1 : before(ours(b)->image, ours(a)->image) ? 1 : 0;
}

herr_t queryFile(const H5FD_t*, unsigned long* flags) {
  if (flags) *flags = H5FD_FEAT_AGGREGATE_METADATA;
  return 0;
}

haddr_t endOfAddresses(const H5FD_t* file, H5FD_mem_t) { return ours(file)->image->end; }
herr_t setEndOfAddresses(H5FD_t* file, H5FD_mem_t, haddr_t at) {
  ours(file)->image->end = at;
  return 0;
}
haddr_t endOfFile(const H5FD_t* file, H5FD_mem_t) { return ours(file)->image->end; }

herr_t readFile(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* bytes) {
  ours(file)->image->read(at, static_cast<std::byte*>(bytes), size);
  return 0;
}

// No exception may pass through HDF5.
herr_t writeFile(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* bytes) try {
  ours(file)->image->write(at, static_cast<const std::byte*>(bytes), size);
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

H5FD_class_t driverClass() {
  constexpr H5FD_mem_t kKinds[] = H5FD_FLMAP_DICHOTOMY;
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 14, 0)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_MAX);
#endif
  driver.name = "ulpscope-growing";
  driver.maxaddr = std::numeric_limits<std::int64_t>::max();
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(GrowingImage*);
  driver.open = openFile;
  driver.close = closeFile;
  driver.cmp = compareFiles;
  driver.query = queryFile;
  driver.get_eoa = endOfAddresses;
  driver.set_eoa = setEndOfAddresses;
  driver.get_eof = endOfFile;
  driver.read = readFile;
  driver.write = writeFile;
  std::copy(std::begin(kKinds), std::end(kKinds), driver.fl_map);
  return driver;
}

// Once a process, under the library's mutex; HDF5 gives it up when it ends.
hid_t driverId() {
  static const H5FD_class_t driver = driverClass();
  static const hid_t id = H5FDregister(&driver);
  return h5::check(id, "cannot be made");
}

}  // namespace

void GrowingImage::write(std::uint64_t at, const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    const std::uint64_t within = at % kPageBytes;
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(size, kPageBytes - within));
    Page& page = m_pages[at / kPageBytes];
    if (page.empty()) page.resize(kPageBytes);
    std::memcpy(page.data() + within, bytes, piece);
    at += piece;
    bytes += piece;
    size -= piece;
  }
}

void GrowingImage::read(std::uint64_t at, std::byte* bytes, std::size_t size) const {
  feed(at, at + size, [&](std::uint64_t where, const std::byte* piece, std::size_t pieceSize) {
    std::memcpy(bytes + (where - at), piece, pieceSize);
    return true;
  });
}

bool GrowingImage::feed(std::uint64_t from, std::uint64_t to,
                        const std::function<bool(std::uint64_t at, const std::byte* bytes, std::size_t size)>& sink) const {
  static const Page zeros(kPageBytes);
  while (from < to) {
    const std::uint64_t within = from % kPageBytes;
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(to - from, kPageBytes - within));
    const auto page = m_pages.find(from / kPageBytes);
    if (!sink(from, (page == m_pages.end() ? zeros : page->second).data() + within, piece)) return false;
    from += piece;
  }
  return true;
}

h5::File createGrowing(GrowingImage& image) {
  constexpr hsize_t kMetadataBlock = std::uint64_t{1} << 12;
  constexpr hsize_t kAlignment = 64;
  const h5::Plist access(h5::check(H5Pcreate(H5P_FILE_ACCESS), "cannot be made"));
  GrowingImage* info = &image;
  h5::check(H5Pset_driver(access, driverId(), &info), "cannot be made");
  h5::check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110), "cannot be made");
  h5::check(H5Pset_meta_block_size(access, kMetadataBlock), "cannot be made");
  h5::check(H5Pset_alignment(access, kAlignment, kAlignment), "cannot be made");
  return h5::File(h5::check(H5Fcreate("ulpscope-growing", H5F_ACC_TRUNC, H5P_DEFAULT, access), "cannot be made"));
}

}  // namespace ulpscope::storage
