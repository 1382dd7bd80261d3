// The other end of what a GPU may make of long sums: the candidate once more, outputs and decisions only. Private to core/engine.
#pragma once

#include "core/engine/output_collector.h"
#include "core/engine/run_frame.h"
#include "core/engine/run_progress.h"

#include <functional>
#include <stop_token>

namespace ulpscope::engine {

class AccumulationRun {
 public:
  // candidate: a forward of the candidate on a batch that adds up in the way that the run itself does not.
  using CandidateRun = std::function<SideResult(const Batch&)>;
  AccumulationRun(const RunFrame& frame, const OutputCollector& outputs, CandidateRun candidate);
  // Errors: cancelled; the candidate raises, which it did not in the run itself.
  base::Status measure(RunProgress& progress, std::stop_token stop);
  // run: its own outputs and flips are one end.
  session::Accumulation summary(const session::RunRecord& run, const session::SampleSet& samples) const;

 private:
  const RunFrame& m_frame;
  const OutputCollector& m_own;
  CandidateRun m_run;
  OutputCollector m_other;
};

}  // namespace ulpscope::engine
