// Loads, inspects and runs models. No Torch in this header.
#pragma once

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/model/model_info.h"
#include "core/protocol/cells.h"
#include "core/protocol/inspection.h"
#include "core/protocol/opened_experiment.h"
#include "core/session/scan.h"
#include "core/session/session.h"
#include "core/session/settings.h"
#include "core/storage/run_writer.h"
#include "core/storage/session_store.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace ulpscope::engine {

struct EngineFacts {
  std::string libtorchVersion;
  std::vector<std::string> policyTables;
  int threads = 1;          // of the machine
  std::string blas;         // which library answers matrix products, "" unknown
};

// Everything of one run, not yet stored.
struct RunOutcome {
  model::ModelInfo model;
  session::SampleSet samples;
  session::RunRecord run;
  storage::RunMetrics metrics;
  std::vector<storage::OutputTensors> outputs;
};

// What goes on beside a run. Everything may be empty.
struct RunHooks {
  base::ProgressSink progress;
  // For live views, on the working thread: the experiment before the first op, cells between batches.
  std::function<void(const protocol::LiveExperiment&)> experiment = {};
  std::function<void(const protocol::CellBlock&)> cells = {};
  // Called once the model and the samples are known and before the first op: where the run is to be written. An error ends the run.
  std::function<base::Result<storage::RunWriter*>(const model::ModelInfo&, const session::SampleSet&)> open;
};

struct BenchmarkOrder;  // benchmark.h
struct TimedRun;
enum class TimedSide;

// Keeps the last model loaded between calls. One call at a time; calls block.
class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  static EngineFacts facts();
  // target: "cuda" (a policy table's name also) or "cpu" (error: this version has no table for it).
  base::Result<protocol::Inspection> inspect(const std::string& modelPath, const std::string& target);
  // Loads model and inputs as run() would, runs nothing. Without inputsPath the model alone. Errors as run()'s.
  base::Result<protocol::OpenedExperiment> open(const session::RunRequest& request);
  // Errors: usage (regions, settings), input (files), run (the reference failed, eager outputs differ), inconclusive (nothing was autocast),
  // cancelled. A candidate that raises is no error but RunRecord::candidateError.
  base::Result<RunOutcome> run(const session::RunRequest& request, const RunHooks& hooks, std::stop_token stop);
  // Evaluates inputs between samples of the session, which is the one that request.sessionPath names; stores nothing. Errors as run()'s, usage also
  // for samples that span nothing, run for a model or inputs that are not the session's and for scores that hang on what else is in a batch.
  base::Result<session::Scan> scan(const session::ScanRequest& request, const session::Session& session, const base::ProgressSink& progress, std::stop_token stop);
  // Both sides without interception, and a run after it. Errors as run()'s, and input for what cannot be timed.
  base::Result<TimedRun> time(const BenchmarkOrder& order, const base::ProgressSink& progress, std::stop_token stop);
  // One side alone; means something in a process that has run nothing else.
  base::Result<session::PeakMemory> peakMemory(const BenchmarkOrder& order, TimedSide side, const base::ProgressSink& progress, std::stop_token stop);

 private:
  struct Cache;
  std::unique_ptr<Cache> m_cache;
};

}  // namespace ulpscope::engine
