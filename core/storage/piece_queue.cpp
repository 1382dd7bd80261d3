#include "core/storage/piece_queue.h"

namespace ulpscope::storage {

PieceBuffer PieceQueue::takeBuffer() {
  std::unique_lock lock(m_mutex);
  m_room.wait(lock, [&] { return !m_free.empty() || m_buffers < kMostPieces; });
  if (m_free.empty()) {
    PieceBuffer made(new std::byte[kPieceBytes]);  // not zeroed: it is filled at once
    ++m_buffers;
    return made;
  }
  PieceBuffer buffer = std::move(m_free.back());  // the last one used is the one still in the cache
  m_free.pop_back();
  return buffer;
}

void PieceQueue::push(Piece piece) {
  {
    const std::scoped_lock lock(m_mutex);
    m_pieces.push_back(std::move(piece));
  }
  m_work.notify_one();
}

void PieceQueue::close() {
  {
    const std::scoped_lock lock(m_mutex);
    m_closed = true;
  }
  m_work.notify_one();
}

std::optional<Piece> PieceQueue::pop() {
  std::unique_lock lock(m_mutex);
  m_work.wait(lock, [&] { return m_closed || !m_pieces.empty(); });
  if (m_pieces.empty()) return std::nullopt;
  Piece piece = std::move(m_pieces.front());
  m_pieces.pop_front();
  return piece;
}

void PieceQueue::done(Piece piece) {
  if (!piece.bytes) return;
  {
    const std::scoped_lock lock(m_mutex);
    m_free.push_back(std::move(piece.bytes));
  }
  m_room.notify_one();
}

}  // namespace ulpscope::storage
