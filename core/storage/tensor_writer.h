// Private: a tensors file that grows while the run goes on. A thread of its own writes what capture() copied.
#pragma once

#include "core/storage/capture_layout.h"
#include "core/storage/piece_queue.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace ulpscope::storage {

class TensorWriter {
 public:
  // Writes to `fd`, which is empty, open for writing, and stays the caller's; `path` is for messages.
  TensorWriter(int fd, std::string path, std::string sessionId, std::string runId);
  ~TensorWriter();
  TensorWriter(const TensorWriter&) = delete;
  TensorWriter& operator=(const TensorWriter&) = delete;

  std::size_t addCapture(const CapturePlan& plan);
  base::Status capture(const CaptureBlock& block);
  // Everything written, the trailer at its end, synced. Sets the bytes of run.capture.
  base::Status finish(session::RunRecord& run, const std::vector<OutputTensors>& outputs);

 private:
  void writePieces();
  base::Status writePiece(const Piece& piece);
  base::Status writeRest();
  base::Status writeAt(std::uint64_t at, const void* bytes, std::size_t size);
  base::Status inHdf5(const std::function<void(CaptureLayout&)>& body);
  void stop();
  base::Status error();
  void fail(const base::Error& error);

  int m_fd;
  std::string m_path, m_sessionId, m_runId;
  std::deque<CapturePlan> m_plans;  // places of elements stay while it grows
  std::unique_ptr<CaptureLayout> m_layout;  // touched with the library's mutex held
  PieceQueue m_queue;
  FastHash m_hash;                    // of the block that is being written
  std::uint64_t m_at = 0;             // where its next piece goes
  std::mutex m_errorMutex;
  std::optional<base::Error> m_error;
  std::thread m_thread;
};

}  // namespace ulpscope::storage
