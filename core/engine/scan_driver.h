// One scan from request to record. Private to core/engine.
#pragma once

#include "core/engine/scan_gradient.h"
#include "core/engine/scan_runs.h"
#include "core/session/scan.h"

namespace ulpscope::engine {

class ScanDriver {
 public:
  ScanDriver(const LoadedModel& model, const session::ScanRequest& request, session::RunSettings settings, const PolicyTable& table, base::ProgressSink progress)
      : m_model(model), m_request(request), m_settings(std::move(settings)), m_table(table), m_progress(std::move(progress)), m_inputs(m_set) {}
  // set: all samples of the session. axis: of the output that decides.
  base::Result<session::Scan> run(ReferenceSet set, int sampleAxis, std::stop_token stop);

 private:
  const LoadedModel& m_model;
  const session::ScanRequest& m_request;
  session::RunSettings m_settings;
  const PolicyTable& m_table;
  base::ProgressSink m_progress;
  ReferenceSet m_set;
  ScanInputs m_inputs;
  RegionSet m_regions;
  session::Scan m_scan;
  std::vector<session::PairAtPoint> m_points;  // near: of all samples of the set
  std::vector<std::size_t> m_ways;             // near: number in NearScan::samples of each way

  base::Result<std::vector<std::int64_t>> sampleNumbers() const;
  base::Status scanSegment(ScanRuns& runs, const std::vector<std::int64_t>& samples);
  base::Status scanPlane(ScanRuns& runs, const std::vector<std::int64_t>& samples);
  base::Status scanNear(ScanRuns& runs, const ScanFrame& frame, const std::vector<std::int64_t>& samples, std::stop_token stop);
  // A part of the samples, so many that their directions fit into memory.
  base::Status scanNearSome(ScanRuns& runs, const ScanFrame& frame, const std::vector<std::int64_t>& samples, std::stop_token stop);
  void addNear(std::int64_t sample, const MarginGradient& gradient);
  base::Status searchNear(ScanRuns& runs);
  base::Status measureCurve(ScanRuns& runs);
  void finish(const ScanRuns& runs);
};

}  // namespace ulpscope::engine
