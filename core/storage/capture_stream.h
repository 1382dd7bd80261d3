// Private: a captured tensor piece by piece, by its place in a file of ours, for what is too large to be held.
#pragma once

#include "core/storage/digest.h"
#include "core/storage/run_writer.h"

#include <string>
#include <vector>

namespace ulpscope::storage {

struct PlacedBlock {
  CapturedBlock block;  // without its bytes
  std::uint64_t offset = 0, bytes = 0;
  std::string name;
};

struct PlacedCapture {
  std::string path;
  std::vector<PlacedBlock> blocks;  // empty: nothing was captured, or the file has no digest, so that only readCapture() may read it
  std::vector<Extent> extents;
};
// What readCapture() would give, without reading it. Errors as readCapture's.
base::Result<PlacedCapture> placeCapture(const std::string& masterPath, const session::Session& session, const std::string& runId, std::size_t index, RunSide side);

// Reads one block from its beginning to its end and holds every extent against its checksum.
class BlockStream {
 public:
  // Borrows both. open: for reading, closed by the caller.
  BlockStream(int open, const PlacedCapture& capture, const PlacedBlock& block);
  // The next bytes, as many as `room` takes or are left; error kind input where they are not what was written. 0: the end.
  base::Result<std::size_t> next(std::vector<std::byte>& room);

 private:
  int m_fd;
  const PlacedCapture& m_capture;
  const PlacedBlock& m_block;
  std::uint64_t m_done = 0;
  std::size_t m_extent = 0;      // number of the one that is being read
  std::uint64_t m_inExtent = 0;  // bytes of it that were read
  FastHash m_hash;

  base::Status check(const std::byte* bytes, std::size_t size);
  base::Error damaged(const std::string& what) const;
};

}  // namespace ulpscope::storage
