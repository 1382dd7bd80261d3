// The protocol between a client (window, command line) and `ulpscope-engine worker`: one JSON object a line.
// PROTOCOL.md is the contract; this is its codec.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/protocol/cells.h"
#include "core/session/benchmark.h"
#include "core/session/scan_request.h"
#include "core/session/settings.h"
#include "core/session/training.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ulpscope::protocol {

inline constexpr int kVersion = 1;

// Client to engine.
std::string encodeHello(int id);
// target: "cuda" or "cpu"; answered with a result {"model": ModelInfo, "ops": [...], "policy_table"}.
std::string encodeInspect(int id, const std::string& modelPath, const std::string& target);
// What a run of this would work on, without running it: result {"model", "inputs", "samples", ...}. Only paths and batch axes of the request count.
std::string encodeOpen(int id, const session::RunRequest& request);
// Result {"session", "run_id"}. live: tells the experiment and its cells meanwhile.
enum class Live { no, yes };
std::string encodeRun(int id, const session::RunRequest& request, Live live = Live::no);
// Result {"session", "training"}: its number there. The recipe is a path; ledger lines come meanwhile. At most one of resume, replay and compare:
// - resume: goes on from a checkpoint;
// - replay: trains from a case's checkpoint to the step that made the training go back, and runs that step's batch op by op: result also
//   {"run_id", "reproduced", "difference"};
// - compare: runs the model as it stands in a checkpoint on the recipe's inputs, FP32 and autocast; trains nothing: result {"session", "run_id", "summary"}.
struct TrainRequest {
  std::string recipePath, sessionPath;
  bool append = false;   // the session may exist
  bool isolate = false;
  std::int64_t checkpointEvery = 0;  // steps; 0: as the recipe says
  std::string resume = {}, replay = {}, compare = {};  // paths; empty: no
  std::string change = {};  // resume: the name of what the recipe changes
  std::string revisionReason = {};  // the recipe's criteria revise those of the session; empty: they must be the same
};
std::string encodeTrain(int id, const TrainRequest& request);
base::Result<TrainRequest> trainRequestFrom(const nlohmann::json& params);
// Result {"session", "scan": its number there}; where nothing was to be stored {"session", "record": toJson(session::Scan)}. Progress counts inputs.
std::string encodeScan(int id, const session::ScanRequest& request);
// One part of a benchmark, each to an engine of its own; the times come last and take what the others measured.
struct BenchmarkRequest {
  enum class Part { referenceMemory, candidateMemory, times } part = Part::times;
  std::string sessionPath;
  std::string runId;     // the run whose policy is timed; empty: a training's step is
  int training = 0;      // then, its number
  int pairs = 20;
  int threads = 0;       // of each side; 0: the machine's
  session::PeakMemory reference = {}, candidate = {};  // with `times`
};
// Result of memory: {"memory": PeakMemory}. Of times: {"benchmark": Benchmark, "not_stored": TEXT}, or {"withheld": TEXT, "verdict": Verdict} where the
// numbers did not pass again.
std::string encodeBenchmark(int id, const BenchmarkRequest& request);
base::Result<BenchmarkRequest> benchmarkRequestFrom(const nlohmann::json& params);
std::string encodeCancel(int id, int runId);  // cancels request runId, if it still runs
std::string encodeShutdown(int id);

// Engine to client.
std::string encodeProgress(int id, const base::Progress& progress);
std::string encodeExperiment(int id, const LiveExperiment& experiment);
std::string encodeCells(int id, const CellBlock& block);
// A line of a ledger as it is written; `run` is the trajectory's name.
struct LedgerUpdate {
  std::string run;
  session::LedgerLine line;
};
std::string encodeLedger(int id, const LedgerUpdate& update);
std::string encodeResult(int id, const nlohmann::json& result);
std::string encodeError(int id, const base::Error& error);

// A parsed line of either direction.
struct Message {
  enum class Kind { hello, inspect, open, run, train, scan, benchmark, cancel, shutdown, progress, experiment, cells, ledger, result, error } kind = Kind::error;
  int id = 0;
  nlohmann::json body;           // params of a request, the result of an answer
  base::Progress progress;       // kind progress
  LiveExperiment experiment;     // kind experiment
  CellBlock cells;               // kind cells
  LedgerUpdate ledger;           // kind ledger
  base::Error error;             // kind error
};

// Error kind internal for a line that is no message.
base::Result<Message> parseMessage(std::string_view line);

// Cuts a byte stream into lines, without their ends; empty lines are left out. A line over maxLineBytes is dropped and
// reported by overflowed().
class LineReader {
 public:
  explicit LineReader(std::size_t maxLineBytes = 64U << 20) : m_maxLineBytes(maxLineBytes) {}
  std::vector<std::string> feed(std::string_view bytes);
  bool overflowed() const { return m_overflowed; }

 private:
  std::size_t m_maxLineBytes;
  std::string m_pending;
  bool m_skipping = false;
  bool m_overflowed = false;
};

// The engine beside the running program: $ULPSCOPE_ENGINE, then `ulpscope-engine` in the program's own folder (build
// tree), then ../libexec/ulpscope/. Error kind run that names the places looked at.
base::Result<std::string> findEngine();

// Where shared data (demos, schemas, Python snippets) lies: $ULPSCOPE_DATA, then the build tree's or the installed
// share/ulpscope. Error kind input naming the places.
base::Result<std::string> findData(const std::string& relativePath);

}  // namespace ulpscope::protocol
