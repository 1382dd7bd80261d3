#include "core/storage/capture_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ulpscope::storage {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

BlockStream::BlockStream(int open, const PlacedCapture& capture, const PlacedBlock& block) : m_fd(open), m_capture(capture), m_block(block) {
  const auto first = std::lower_bound(capture.extents.begin(), capture.extents.end(), block.offset, [](const Extent& e, std::uint64_t at) { return e.offset < at; });
  m_extent = static_cast<std::size_t>(first - capture.extents.begin());
}

Error BlockStream::damaged(const std::string& what) const { return Error{ErrorKind::input, what, m_capture.path + ", " + m_block.name, "restore the file from a copy"}; }

// Extents lie one after another, from the block's first byte to its last.
Status BlockStream::check(const std::byte* bytes, std::size_t size) {
  while (size > 0) {
    if (m_extent >= m_capture.extents.size()) return damaged("is not what the file's list of tensors says");
    const Extent& extent = m_capture.extents[m_extent];
    if (extent.offset + m_inExtent != m_block.offset + m_done || !extent.checksum) return damaged("is not what the file's list of tensors says");
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size, extent.size - m_inExtent));
    m_hash.update(bytes, part);
    m_inExtent += part;
    m_done += part;
    bytes += part;
    size -= part;
    if (m_inExtent < extent.size) continue;
    if (m_hash.value() != *extent.checksum) return damaged("is damaged: its bytes are not those that were written");
    m_hash.reset();
    m_inExtent = 0;
    ++m_extent;
  }
  return m_done == m_block.bytes && m_inExtent > 0 ? Status(damaged("is not what the file's list of tensors says")) : base::success();
}

Result<std::size_t> BlockStream::next(std::vector<std::byte>& room) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), m_block.bytes - m_done));
  for (std::size_t got = 0; got < wanted;) {
    const ssize_t n = ::pread(m_fd, room.data() + got, wanted - got, static_cast<off_t>(m_block.offset + m_done + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return damaged("cannot be read to its end");
    got += static_cast<std::size_t>(n);
  }
  if (auto checked = check(room.data(), wanted); !checked) return checked.error();
  return wanted;
}

}  // namespace ulpscope::storage
