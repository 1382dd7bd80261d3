// One run on its way into a session: what was captured is written while the run goes on, checkpoints keep what was measured so
// far, and finish() makes it all part of the session.
//
// Thread: one at a time; a thread of the writer's own does the writing of captures.
#pragma once

#include "core/storage/session_store.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ulpscope::storage {

enum class RunSide { reference, candidate };

// What one captured op output is in all: told once, before its first block.
struct CapturePlan {
  std::string label;            // session::siteLabel of the op site
  // Then blocks of all batches stand one after another in one dataset, but for those of another dtype or of another shape beyond
  // axis 0, which get datasets of their own.
  bool samplesOnAxis0 = false;
  std::int64_t samples = 0;     // over all batches; counts with samplesOnAxis0 only
};

// One batch's tensor of one run, borrowed until capture() returns. strides in elements; empty: contiguous.
struct CaptureBlock {
  std::size_t capture = 0;  // index that addCapture gave
  RunSide side = RunSide::reference;
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  const void* data = nullptr;
  std::int64_t batch = 0;        // counts from 0
  std::int64_t firstSample = 0;  // with samplesOnAxis0: where on the axis it begins
};

class RunWriter {
 public:
  // Reserves the run's number and the folder; nothing else can be seen of it until checkpoint() or finish(). Errors as addRun's.
  static base::Result<RunWriter> begin(const std::string& masterPath, session::Session session, WriteMode mode);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) = delete;
  // Without finish(): removes what was written, and the folder if begin() made it.
  ~RunWriter();

  std::string runId() const;  // as reserved
  std::size_t addCapture(const CapturePlan& plan);
  // Copies the block, piece by piece, and returns; waits while more than 8 MiB are still to be written. An error of the
  // writing thread (a full disk) is reported by the next call, and by finish().
  base::Status capture(const CaptureBlock& block);

  // Writes `run` and `metrics` as they stand to the run's metrics file with the ending .part, whole or not at all. A session that has
  // no master yet gets one, so that what a crash leaves can be opened. run.samplesComplete counts.
  base::Status checkpoint(session::RunRecord run, const RunMetrics& metrics);

  // All files in place, then the master with the run added, as addRun does it. run.capture names what was captured: its sites in the
  // order of addCapture; their bytes are set here. The session as it now stands. Once only; after an error nothing of the run is left.
  base::Result<session::Session> finish(session::RunRecord run, const RunMetrics& metrics, const std::vector<OutputTensors>& outputs);

 private:
  struct State;
  explicit RunWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

// A captured op output as stored, whole.
struct CapturedBlock {
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::int64_t batch = -1;  // -1: of all batches, one after another on axis 0
  std::int64_t firstSample = 0;  // with batch -1: where on that axis it begins
  std::vector<std::byte> bytes;  // row-major, native byte order
};
// index: into RunRecord::capture->sites. One block a batch; one in all where batches stand one after another, or one for each stretch of
// samples that was reached before the run ended. None: this side was never captured. Errors (kind input): as readOutputs', and damage.
base::Result<std::vector<CapturedBlock>> readCapture(const std::string& masterPath, const session::Session& session, const std::string& runId,
                                                     std::size_t index, RunSide side);

}  // namespace ulpscope::storage
