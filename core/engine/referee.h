// Both runs against one more in float64: whose error is it? Private to core/engine.
#pragma once

#include "core/engine/executors.h"
#include "core/engine/run_frame.h"
#include "core/engine/run_progress.h"
#include "core/engine/site_errors.h"

#include <functional>

namespace ulpscope::engine {

// Every op in float64: floating operands that are narrower, floating dtype arguments and what factories make are widened. Random
// ops draw in float32, as in the other runs, and are widened afterwards.
class WideExecutor : public OpExecutor {
 public:
  void execute(const OpCall& call, ExecutionPlace& place, OpEvent* event) override;
};

// The model with float64 parameters and buffers, for WideExecutor.
torch::jit::Module wideCopy(const LoadedModel& model, bool trainMode);
Arguments wideArguments(const Arguments& arguments);

class Referee {
 public:
  // candidate: runs the candidate's forward on a batch, handing its ops to the sink.
  using CandidateRun = std::function<SideResult(const Batch&, const EventSink&)>;
  Referee(const RunFrame& frame, CandidateRun candidate);
  // Errors: cancelled; the model fails in float64.
  base::Status measure(RunProgress& progress, std::stop_token stop);

  // Relative L2 against float64, worst sample.
  std::optional<double> referenceError(const SiteKey& site) const { return m_reference.at(site); }
  std::optional<double> candidateError(const SiteKey& site) const { return m_candidate.at(site); }

 private:
  const RunFrame& m_frame;
  CandidateRun m_run;
  SiteErrors m_reference, m_candidate;

  base::Status measureBatch(const Batch& batch, torch::jit::Module& wide, const SideFunction& other, SiteErrors& errors, std::stop_token stop) const;
};

}  // namespace ulpscope::engine
