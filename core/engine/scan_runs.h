// Both runs, and FP32 in another order, at the points of a scan: in batches of one size, with nobody looking at the ops. Private to core/engine.
#pragma once

#include "core/analysis/point_reader.h"
#include "core/base/progress.h"
#include "core/engine/candidate.h"
#include "core/engine/scan_inputs.h"
#include "core/session/scan.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace ulpscope::engine {

// What is fixed for a scan. All of it outlives ScanRuns.
struct ScanFrame {
  const LoadedModel& model;
  const session::RunSettings& settings;  // batchSize: of every forward; decisionOutput: the output that decides
  const PolicyTable& table;
  const RegionSet& regions;
  const ReferenceSet& set;
  const ScanInputs& inputs;
  int sampleAxis = 0;  // of that output
};

class ScanRuns {
 public:
  ScanRuns(const ScanFrame& frame, base::ProgressSink progress, std::stop_token stop);

  // For progress. total 0: not known.
  void beginStage(const std::string& stage, std::int64_t total);

  // A batch that is not full is filled with its last point. Errors: cancelled; run (a run fails, scores that hang on what else is in the batch, ties
  // that are refused); input (an op that cannot be emulated); inconclusive (nothing was autocast); usage (the rule does not fit the output).
  base::Result<std::vector<analysis::LookedAt>> look(const std::vector<PointOnWay>& points);
  // FP32 against itself there: in reverse order within each batch, and with another number of threads. Empty: the model draws random numbers, or the
  // output has another shape then; noise() says so. Errors as look()'s.
  base::Result<std::vector<analysis::NoiseAtPoint>> lookAtNoise(const std::vector<PointOnWay>& points);
  // Whether the first batch still gives the same bits: a model that keeps something between forwards cannot be scanned. Kind run. Precondition: look() ran.
  base::Status checkRepeats();

  const analysis::PointReader& reader() const { return m_reader; }
  const session::ScanNoise& noise() const { return m_noise; }
  std::int64_t evaluations() const { return m_evaluations; }

 private:
  struct Lane {
    torch::jit::Module module;
    std::unique_ptr<OpExecutor> executor;
    const RegionSet* regions;
    std::string device;
  };

  const ScanFrame& m_frame;
  base::ProgressSink m_progress;
  std::stop_token m_stop;
  RegionSet m_noRegions;
  Lane m_reference, m_candidate, m_floor;
  session::ScanNoise m_noise{"not asked for", 0};
  bool m_drewRandomNumbers = false;
  analysis::PointReader m_reader;
  std::string m_stage;
  std::int64_t m_done = 0, m_total = 0, m_evaluations = 0;
  Arguments m_firstArguments;  // empty: nothing ran yet
  at::Tensor m_firstReference, m_firstCandidate;

  base::Result<at::Tensor> forward(Lane& lane, const Arguments& arguments, int threads);
  base::Result<at::Tensor> scoresOf(const SideResult& result) const;
  using Batches = std::vector<std::vector<PointOnWay>>;
  // Both ways round of some batches, the threads being set once.
  base::Result<std::vector<analysis::NoiseAtPoint>> noiseOf(const Batches& batches);
  Batches batchesOf(const std::vector<PointOnWay>& points) const;
  base::Result<std::vector<analysis::LookedAt>> lookAtBatch(std::vector<PointOnWay> points);
  base::Status checkFirst(const at::Tensor& reference, const at::Tensor& candidate);
  base::Status checkAlone(const std::vector<PointOnWay>& full, const at::Tensor& reference);
};

}  // namespace ulpscope::engine
