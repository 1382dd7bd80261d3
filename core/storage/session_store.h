// The session on disk: `name.ulps` (a small HDF5 master, rewritten whole) and `name.ulps.d/` (one metrics and one
// tensors file a run, written once). FORMAT.md is the schema. The only folder that sees HDF5.
//
// Thread: any; functions of this folder wait for each other where they use HDF5.
#pragma once

#include "core/base/error.h"
#include "core/session/session.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

// Row-major [sites x samples], in the order of RunRecord::sites. A cell that was not evaluated is NaN in the metric
// and has its flag set.
struct MetricMatrix {
  std::int64_t sites = 0;
  std::int64_t samples = 0;
  std::vector<float> values;
  float at(std::int64_t site, std::int64_t sample) const { return values[static_cast<std::size_t>(site * samples + sample)]; }
};

// What a cell is apart from its number.
enum CellFlag : std::uint8_t {
  kCellNan = 1,          // candidate has NaN where the reference has not
  kCellPlusInf = 2,
  kCellMinusInf = 4,
  kCellReference = 8,    // the reference itself is non-finite
  kCellWholeBatch = 16,  // the value is the whole batch's: the sample axis was not found
  kCellNotRun = 32,      // not evaluated: a view, an op of one run only, a sample not reached
  kCellOverTolerance = 64,  // an element is outside |b-a| <= atol + rtol|a| of the site tolerance
};

// relL2 and maxAbs are always there; a metric that the run did not compute is empty.
class RunMetrics {
 public:
  MetricMatrix& operator[](session::Metric metric) { return m_matrices[static_cast<std::size_t>(metric)]; }
  const MetricMatrix& operator[](session::Metric metric) const { return m_matrices[static_cast<std::size_t>(metric)]; }
  bool has(session::Metric metric) const { return !(*this)[metric].values.empty(); }
  std::int64_t sites() const { return (*this)[session::Metric::relL2].sites; }
  std::int64_t samples() const { return (*this)[session::Metric::relL2].samples; }

  std::vector<std::uint8_t> flags;  // [sites x samples], CellFlag bits

 private:
  std::array<MetricMatrix, session::kMetricCount> m_matrices;
};

// Elements in their own dtype, row-major, in native byte order.
struct StoredElements {
  base::DType dtype = base::DType::float32;
  std::vector<std::byte> bytes;
};

// A named output of both runs, as computed. shape counts all samples.
struct OutputTensors {
  std::string name;
  std::vector<std::int64_t> shape;
  StoredElements reference, candidate;
};

// A new session, not yet on disk.
session::Session newSession(const std::string& title);

// Reads a master. Errors (kind input) name the file and the fault: missing, not HDF5, not an Ulpscope session, newer
// format, truncated, links out of the session. A run whose files are complete but that the master does not name yet (its
// writer was interrupted) is part of the session, with a warning that says so; session_care.h tells what else there is.
base::Result<session::Session> openSession(const std::string& masterPath);

// A run that is over, written at once: begin() and finish() of run_writer.h. Takes the lock, re-reads, adopts complete runs and
// checkpoints that no master names and sets halves of runs aside (a warning of the run says so), merges runs that `session` does not
// know, writes each file as .part, syncs, renames, the master last.
// Gives the session as it now stands. run.number is assigned here.
// `create`: the master must not exist yet (kind usage otherwise, "exists; use --append"). `share`: the same, but a RunWriter's master
// stands, without a run, from begin() on, so that others can append to it at once.
enum class WriteMode { create, share, append };
base::Result<session::Session> addRun(const std::string& masterPath, session::Session session, session::RunRecord run,
                                      const RunMetrics& metrics, const std::vector<OutputTensors>& outputs, WriteMode mode);

// Whether addRun could write there, asked before a long run starts; leaves nothing behind. Errors as addRun's.
base::Status checkWritable(const std::string& masterPath, WriteMode mode, std::chrono::milliseconds patience = std::chrono::minutes(2));

// Heatmap data and outputs of a run; error when its file is missing (names it) or belongs to another session.
base::Result<RunMetrics> readMetrics(const std::string& masterPath, const session::Session& session, const std::string& runId);
base::Result<std::vector<OutputTensors>> readOutputs(const std::string& masterPath, const session::Session& session,
                                                     const std::string& runId);

// "1.10.8".
std::string hdf5Version();

}  // namespace ulpscope::storage
