// Private: what stands after the HDF5 data of a file of ours: the raw tensors that the digest leaves out, each with a fast checksum
// of its own, and the digest of everything else (FORMAT.md). It guards against damage, not against a forger, who can write one too.
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// Bytes of a captured tensor, in the file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;                 // never 0
  std::optional<std::uint64_t> checksum;  // XXH3-64 of its bytes; empty: never written (the run ended before)
};

// XXH3-64, piece by piece.
class FastHash {
 public:
  FastHash();
  ~FastHash();
  FastHash(const FastHash&) = delete;
  FastHash& operator=(const FastHash&) = delete;
  void reset();
  void update(const void* data, std::size_t sizeBytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};
std::uint64_t fastHash(const void* data, std::size_t sizeBytes);

// "\nULPSCOPE SHA-256 <64 hex digits>\n", which HDF5 does not look at.
std::string digestLine(const std::string& hexDigest);
// The lines of the extents, in order of their offsets; nothing for none. They stand before the digest line and are covered by it.
std::string extentLines(const std::vector<Extent>& extents);
// Appends the digest line of all of `image`.
inline constexpr std::size_t kTrailerBytes = 83;
void appendDigest(std::vector<std::byte>& image);

enum class Digest { none, intact, unread };  // unread: there, but what it covers was more than the caller wanted read
struct Integrity {
  Digest digest = Digest::none;
  std::vector<Extent> extents;  // by offset, within the file, none over another; none without a digest
};
// Reads the whole file but its extents, where it ends in a digest. Error when that is not the file's own, or is cut short. Where that
// is more than mostBytes only the lines at the end are read, and nothing is held against the digest.
inline constexpr std::uint64_t kAllBytes = ~std::uint64_t{0};
base::Result<Integrity> checkDigest(const std::string& path, std::uint64_t mostBytes = kAllBytes);

// Reads every extent; Error when the bytes of one are not those that were written.
base::Status checkExtents(const std::string& path, const std::vector<Extent>& extents);

// Whether the file ends as a finished one of ours does; reads only its end.
bool endsInDigest(const std::string& path);

}  // namespace ulpscope::storage
