// What is measured when reference and candidate meet: per site and sample, over all batches. Private to core/engine.
#pragma once

#include "core/analysis/diagnosis.h"
#include "core/analysis/divergence.h"
#include "core/engine/axis_probe.h"
#include "core/engine/introduced_error.h"
#include "core/engine/lockstep.h"
#include "core/engine/module_returns.h"
#include "core/engine/values.h"
#include "core/protocol/cells.h"
#include "core/session/run_record.h"
#include "core/session/session.h"
#include "core/storage/session_store.h"

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace ulpscope::engine {

class Capture;
class OperandTrace;

struct Batch {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

// The cause of a reference's non-finite that is no result but a constant (a mask's -inf).
inline constexpr const char* kMaskConstant = "a constant that the model writes (a mask)";

class Comparison : public MeetingObserver {
 public:
  // introduced may be null: introduced errors are not computed.
  Comparison(const session::SampleSet& samples, base::DType low, const AxisProbe& axes, const IntroducedError* introduced = nullptr);
  // Where to store op outputs in full; null: nowhere.
  void captureTo(Capture* capture) { m_capture = capture; }
  // Who follows the operands of the batches that it is on for; null: nobody.
  void traceOperands(OperandTrace* trace) { m_trace = trace; }

  void beginBatch(Batch batch);
  // What a module of the reference returns, on the reference's thread.
  void moduleReturned(const std::string& modulePath, const c10::IValue& value);
  void meet(OpEvent& reference, OpEvent& candidate) override;
  void alone(Side side, OpEvent& event) override;
  // The op that made one of the candidate's outputs is at stage "output".
  void endBatch(const std::vector<at::Tensor>& candidateOutputs);

  // Sites in execution order, findings with their site numbers: all there is so far, added to what `run` holds.
  void describe(session::RunRecord& run, storage::RunMetrics& metrics) const;
  std::map<SiteKey, std::int64_t> siteNumbers() const;  // as describe() numbers them
  // For live views: the sites so far, as describe() orders them, and their cells at samples [first, end).
  std::vector<protocol::LiveSite> liveSites() const;
  protocol::CellBlock liveCells(std::int64_t first, std::int64_t end) const;

 private:
  struct CauseCount {
    std::int64_t samples = 0;
    analysis::OriginFacts worst;  // of the sample with the largest reference value there
  };
  struct Site {
    session::SiteSummary summary;
    std::array<std::vector<float>, session::kMetricCount> cells;  // [samples] each; empty: never evaluated
    std::vector<std::uint8_t> flags;                              // [samples]
    std::ptrdiff_t finding = -1;        // into m_origins
    std::ptrdiff_t referenceFinding = -1;
    std::map<std::string, CauseCount> causes;
  };
  struct Outputs {
    HeldView reference, candidate;
    analysis::SampleLayout layout;
    std::vector<analysis::SampleDivergence> samples;
  };
  using Key = SiteKey;
  struct Finding {
    session::NonfiniteFinding record;
    Key key;
  };

  const session::SampleSet& m_samples;
  base::DType m_low;
  session::SiteTolerance m_tolerance;
  const AxisProbe& m_axes;
  const IntroducedError* m_introduced;
  Batch m_batch;
  std::map<Key, Site> m_sites;  // ordered: execution order
  std::vector<Finding> m_origins, m_reference;
  std::vector<session::ControlFlowFinding> m_controlFlow;
  std::set<std::string> m_notCompared;  // ops whose results cannot be read
  Capture* m_capture = nullptr;
  OperandTrace* m_trace = nullptr;
  std::mutex m_returnsMutex;  // a module may return while the other run goes on alone
  Producers m_referenceProducers, m_candidateProducers;  // within a batch
  ModuleReturns m_returns;

  Site& siteFor(const OpEvent& reference, const OpEvent& candidate, int output);
  void compareOutput(OpEvent& reference, OpEvent& candidate, int output, const IntroducedOutputs& introduced);
  // Introduced and inherited error of each sample into `values`; leaves them where the op could not be run again.
  void addIntroduced(std::vector<session::MetricValues>& values, const Outputs& outputs, const IntroducedOutputs& introduced, std::size_t output) const;
  std::vector<double> referenceNorms(const analysis::TensorView& reference, const std::vector<analysis::SampleDivergence>& samples,
                                     const analysis::SampleLayout& layout) const;
  void record(Site& site, const std::vector<analysis::SampleDivergence>& samples, const std::vector<session::MetricValues>& values,
              const analysis::SampleLayout& layout);
  void recordSample(Site& site, std::int64_t sample, const analysis::SampleDivergence& d, const session::MetricValues& values, bool wholeBatch);
  session::SampleAxis axisOf(const OpEvent& event, int output) const;
  analysis::SampleLayout layoutFor(const at::Tensor& tensor, const session::SampleAxis& axis) const;
  // Samples (of the batch) in which an operand of the candidate is non-finite where the reference's is not.
  std::vector<bool> taintedSamples(const OpEvent& reference, const OpEvent& candidate) const;
  void judgeNonfinite(Site& site, const Key& key, const OpEvent& reference, const OpEvent& candidate,
                      const std::vector<analysis::SampleDivergence>& samples, const analysis::SampleLayout& layout);
  static void stateCause(const Site& site, session::NonfiniteFinding& finding);
  analysis::SampleLayout operandLayout(const OpEvent& event, std::size_t operand) const;
  std::vector<analysis::OperandFacts> operandFacts(const OpEvent& reference, const OpEvent& candidate, std::int64_t sample) const;
  struct NonfiniteBefore {
    std::vector<bool> any, nan;  // one a sample of the batch
  };
  NonfiniteBefore samplesNonfiniteBefore(const OpEvent& reference) const;
  void judgeReference(Site& site, const Key& key, const OpEvent& reference, const std::vector<analysis::SampleDivergence>& samples,
                      const analysis::SampleLayout& layout);
  void noteProducers(const Key& key, const at::Tensor& reference, const at::Tensor& candidate);
  void describeMetrics(storage::RunMetrics& metrics) const;
  void noteDivergedControlFlow(const OpEvent& event, const std::string& what);
};

}  // namespace ulpscope::engine
