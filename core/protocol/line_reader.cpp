#include "core/protocol/message.h"

namespace ulpscope::protocol {

// A line that grew too long is dropped up to its end: m_pending then stays empty while m_skipping swallows the rest.
std::vector<std::string> LineReader::feed(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (!m_skipping && m_pending.size() + part.size() > m_maxLineBytes) {
      m_overflowed = m_skipping = true;
      m_pending = std::string();
    }
    if (!m_skipping) m_pending += part;
    if (end == std::string_view::npos) return lines;
    if (!m_skipping && !m_pending.empty()) lines.push_back(std::move(m_pending));
    m_pending.clear();
    m_skipping = false;
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace ulpscope::protocol
