// Private: pieces of tensors on their way from the run to the thread that writes them, in buffers that are used again.
#pragma once

#include "core/storage/run_writer.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace ulpscope::storage {

using PieceBuffer = std::unique_ptr<std::byte[]>;

struct Piece {
  const CapturePlan* plan = nullptr;
  std::shared_ptr<const CaptureBlock> block;  // its data is borrowed no longer: null
  PieceBuffer bytes;                          // empty where the block has no elements
  std::size_t size = 0;
  bool first = false, last = false;
};

// One thread pushes, one pops. At most 8 MiB are on their way: the pieces are then still in the cache when they are written (a longer
// queue costs processor time, see bench_capture), and a disk that is slower than the run is so whatever the queue's length.
class PieceQueue {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
  static constexpr std::size_t kMostPieces = 32;

  // Waits while all are on their way.
  PieceBuffer takeBuffer();
  void push(Piece piece);
  // Nothing more will come; pop() gives what is there.
  void close();
  // Waits for a piece; nothing once closed and empty.
  std::optional<Piece> pop();
  // The piece is dealt with, its buffer free.
  void done(Piece piece);

 private:
  std::mutex m_mutex;
  std::condition_variable m_room, m_work;
  std::deque<Piece> m_pieces;
  std::vector<PieceBuffer> m_free;
  std::size_t m_buffers = 0;  // made in all
  bool m_closed = false;
};

}  // namespace ulpscope::storage
