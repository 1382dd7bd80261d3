// Private: a tensor with any strides as row-major bytes, piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ulpscope::storage {

// Walks the elements in row-major order; the tensor's memory must outlive it.
class StridedCopy {
 public:
  // strides in elements, of any sign and 0 (expanded); empty: contiguous.
  StridedCopy(const void* data, std::size_t elementBytes, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides);
  std::size_t leftBytes() const { return m_leftBytes; }
  // Copies the next min(size, leftBytes()) bytes; size must be a multiple of the element's. Gives how many.
  std::size_t next(std::byte* to, std::size_t size);

 private:
  struct Axis {
    std::int64_t size, stride;  // stride in bytes
    std::int64_t at = 0;
  };
  void copyRow(std::byte* to, std::int64_t count);
  void advance(std::int64_t count);

  const std::byte* m_from;
  std::size_t m_elementBytes;
  std::size_t m_leftBytes;
  std::vector<Axis> m_axes;  // neighbours that can be walked as one are one; never empty
};

}  // namespace ulpscope::storage
