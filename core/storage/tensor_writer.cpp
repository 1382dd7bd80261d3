#include "core/storage/tensor_writer.h"

#include "core/base/hashing.h"
#include "core/storage/atomic_file.h"
#include "core/storage/h5_guard.h"
#include "core/storage/strided_copy.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ulpscope::storage {

using base::Error;
using base::Status;

TensorWriter::TensorWriter(int fd, std::string path, std::string sessionId, std::string runId)
    : m_fd(fd), m_path(std::move(path)), m_sessionId(std::move(sessionId)), m_runId(std::move(runId)) {}

TensorWriter::~TensorWriter() {
  stop();
  const std::scoped_lock alone(h5::libraryMutex());
  const h5::Silence silence;
  m_layout.reset();
}

std::size_t TensorWriter::addCapture(const CapturePlan& plan) {
  m_plans.push_back(plan);
  return m_plans.size() - 1;
}

Status TensorWriter::capture(const CaptureBlock& block) {
  ULPSCOPE_CHECK(block.capture < m_plans.size() && (block.strides.empty() || block.strides.size() == block.shape.size()));
  if (auto failed = error(); !failed) return failed;
  if (!m_thread.joinable()) m_thread = std::thread([this] { writePieces(); });
  StridedCopy source(block.data, base::sizeBytes(block.dtype), block.shape, block.strides);
  auto meta = std::make_shared<CaptureBlock>(block);
  meta->data = nullptr;
  const std::size_t all = source.leftBytes();
  bool first = true;
  do {
    Piece piece{&m_plans[block.capture], meta, nullptr, 0, std::exchange(first, false), false};
    if (all > 0) {
      piece.bytes = m_queue.takeBuffer();
      piece.size = source.next(piece.bytes.get(), PieceQueue::kPieceBytes);
    }
    piece.last = source.leftBytes() == 0;
    m_queue.push(std::move(piece));
  } while (source.leftBytes() > 0);
  return base::success();
}

Status TensorWriter::finish(session::RunRecord& run, const std::vector<OutputTensors>& outputs) {
  stop();
  if (auto failed = error(); !failed) return failed;
  const std::vector<CapturePlan> plans(m_plans.begin(), m_plans.end());
  if (auto described = inHdf5([&](CaptureLayout& layout) { layout.finish(plans, run, outputs); }); !described) return described;
  if (auto written = writeRest(); !written) return written;
  afterStep("part written");
  if (::fsync(m_fd) != 0) return systemError("cannot be written", m_path, errno);
  afterStep("part synced");
  return base::success();
}

// On after an error too, so that nobody waits for a buffer for ever.
void TensorWriter::writePieces() {
  while (auto piece = m_queue.pop()) {
    if (error())
      if (const auto written = writePiece(*piece); !written) fail(written.error());
    m_queue.done(std::move(*piece));
  }
}

Status TensorWriter::writePiece(const Piece& piece) {
  if (piece.first) {
    m_hash.reset();
    if (auto placed = inHdf5([&](CaptureLayout& layout) { m_at = layout.place(*piece.plan, *piece.block); }); !placed) return placed;
  }
  // While the piece is still in the cache.
  m_hash.update(piece.bytes.get(), piece.size);
  if (auto written = writeAt(m_at, piece.bytes.get(), piece.size); !written) return written;
  m_at += piece.size;
  if (piece.last) m_layout->written(m_hash.value());
  return base::success();
}

// All that is in no extent, as HDF5 made it, hashed on its way; then the extents and the digest.
Status TensorWriter::writeRest() {
  const GrowingImage& image = m_layout->image();
  base::Sha256 hash;
  Status status = base::success();
  const auto write = [&](std::uint64_t at, const std::byte* bytes, std::size_t size) {
    hash.update(bytes, size);
    status = writeAt(at, bytes, size);
    return status.ok();
  };
  std::uint64_t at = 0;
  for (const Extent& extent : m_layout->extents()) {
    if (!image.feed(at, extent.offset, write)) return status;
    at = extent.offset + extent.size;
  }
  if (!image.feed(at, image.end, write)) return status;
  std::string trailer = extentLines(m_layout->extents());
  hash.update(trailer);
  trailer += digestLine(hash.hexDigest());
  return writeAt(image.end, trailer.data(), trailer.size());
}

Status TensorWriter::writeAt(std::uint64_t at, const void* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t wrote = ::pwrite(m_fd, static_cast<const std::byte*>(bytes) + done, size - done, static_cast<off_t>(at + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return systemError("cannot be written", m_path, wrote < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(wrote);
  }
  return base::success();
}

Status TensorWriter::inHdf5(const std::function<void(CaptureLayout&)>& body) {
  return h5::guarded(m_path, [&] {
    if (!m_layout) m_layout = std::make_unique<CaptureLayout>(m_sessionId, m_runId);
    body(*m_layout);
    return base::Done{};
  });
}

void TensorWriter::stop() {
  m_queue.close();
  if (m_thread.joinable()) m_thread.join();
}

Status TensorWriter::error() {
  const std::scoped_lock lock(m_errorMutex);
  return m_error ? Status(*m_error) : base::success();
}

void TensorWriter::fail(const Error& error) {
  const std::scoped_lock lock(m_errorMutex);
  if (!m_error) m_error = error;
}

}  // namespace ulpscope::storage
