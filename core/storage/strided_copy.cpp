#include "core/storage/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace ulpscope::storage {
namespace {

template <std::size_t kBytes>
void gather(std::byte* to, const std::byte* from, std::int64_t count, std::int64_t stride) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + static_cast<std::size_t>(i) * kBytes, from + i * stride, kBytes);
}

}  // namespace

StridedCopy::StridedCopy(const void* data, std::size_t elementBytes, const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides)
    : m_from(static_cast<const std::byte*>(data)), m_elementBytes(elementBytes), m_leftBytes(elementBytes) {
  const auto element = static_cast<std::int64_t>(elementBytes);
  std::int64_t contiguous = element;
  std::vector<std::int64_t> byteStrides(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    byteStrides[i] = strides.empty() ? contiguous : strides[i] * element;
    contiguous *= shape[i];
    m_leftBytes *= static_cast<std::size_t>(shape[i]);
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!m_axes.empty() && m_axes.back().stride == byteStrides[i] * shape[i])
      m_axes.back() = {m_axes.back().size * shape[i], byteStrides[i]};
    else
      m_axes.push_back({shape[i], byteStrides[i]});
  }
  if (m_axes.empty()) m_axes.push_back({1, element});
}

std::size_t StridedCopy::next(std::byte* to, std::size_t size) {
  const std::size_t wanted = std::min(size, m_leftBytes);
  for (std::size_t done = 0; done < wanted;) {
    const Axis& row = m_axes.back();
    const auto count = std::min<std::int64_t>(row.size - row.at, static_cast<std::int64_t>((wanted - done) / m_elementBytes));
    copyRow(to + done, count);
    advance(count);
    done += static_cast<std::size_t>(count) * m_elementBytes;
  }
  m_leftBytes -= wanted;
  return wanted;
}

void StridedCopy::copyRow(std::byte* to, std::int64_t count) {
  const std::int64_t stride = m_axes.back().stride;
  if (stride == static_cast<std::int64_t>(m_elementBytes)) {
    std::memcpy(to, m_from, static_cast<std::size_t>(count) * m_elementBytes);
    return;
  }
  switch (m_elementBytes) {
    case 1: return gather<1>(to, m_from, count, stride);
    case 2: return gather<2>(to, m_from, count, stride);
    case 4: return gather<4>(to, m_from, count, stride);
    case 8: return gather<8>(to, m_from, count, stride);
    default:
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to + static_cast<std::size_t>(i) * m_elementBytes, m_from + i * stride, m_elementBytes);
  }
}

void StridedCopy::advance(std::int64_t count) {
  m_axes.back().at += count;
  m_from += count * m_axes.back().stride;
  for (std::size_t i = m_axes.size(); i-- > 1 && m_axes[i].at == m_axes[i].size;) {
    m_from += m_axes[i - 1].stride - m_axes[i].size * m_axes[i].stride;
    m_axes[i].at = 0;
    ++m_axes[i - 1].at;
  }
}

}  // namespace ulpscope::storage
