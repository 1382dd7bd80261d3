// Private: an HDF5 file whose structure stays in memory while the raw bytes of its tensors go past HDF5 to the disk.
//
// HDF5 gives each tensor its place (H5D_ALLOC_TIME_EARLY, H5D_FILL_TIME_NEVER) and never writes there; what it does write is kept by
// a file driver of ours and put on the disk at the end. So neither a full disk nor a slow one ever meets HDF5.
#pragma once

#include "core/storage/h5.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ulpscope::storage {

// What HDF5 wrote, by address; what it did not write is zero.
class GrowingImage {
 public:
  void write(std::uint64_t at, const std::byte* bytes, std::size_t size);
  void read(std::uint64_t at, std::byte* bytes, std::size_t size) const;
  // Gives [from, to) in pieces of at most one page, in order, until `sink` gives false.
  bool feed(std::uint64_t from, std::uint64_t to, const std::function<bool(std::uint64_t at, const std::byte* bytes, std::size_t size)>& sink) const;

  std::uint64_t end = 0;  // of the HDF5 data

 private:
  static constexpr std::uint64_t kPageBytes = std::uint64_t{1} << 16;
  using Page = std::vector<std::byte>;
  std::map<std::uint64_t, Page> m_pages;  // by address / kPageBytes
};

// A new, empty file whose structure goes to `image`, which must outlive it. Close it before `image` is fed anywhere.
h5::File createGrowing(GrowingImage& image);

}  // namespace ulpscope::storage
