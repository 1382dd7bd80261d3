// The model's outputs of both runs, batch after batch. Private to core/engine.
#pragma once

#include "core/analysis/divergence.h"
#include "core/engine/axis_probe.h"
#include "core/engine/comparison.h"
#include "core/engine/values.h"
#include "core/session/run_record.h"
#include "core/storage/session_store.h"

#include <string>
#include <vector>

namespace ulpscope::engine {

class OutputCollector {
 public:
  OutputCollector(base::DType low, const AxisProbe& axes) : m_low(low), m_axes(axes) {}

  // Error kind run when the two runs give other outputs (names, shapes) at this batch.
  base::Status add(Batch batch, const std::vector<NamedTensor>& reference, const std::vector<NamedTensor>& candidate);

  struct Output {
    std::string name;
    int sampleAxis = -1;  // -1: no axis found, the output is not joined over batches
    std::vector<at::Tensor> reference, candidate;  // one a batch
    analysis::SampleDivergence total;
    base::DType candidateDtype = base::DType::float32;

    at::Tensor joinedReference() const;  // undefined when there is no axis
    at::Tensor joinedCandidate() const;
  };
  const std::vector<Output>& outputs() const { return m_outputs; }

  std::vector<session::OutputSummary> summaries() const;
  // Floating outputs with a sample axis.
  std::vector<storage::OutputTensors> tensors() const;
  // "FP32 outputs agree with the saved eager outputs to 1.2e-7", "" when none were saved; error kind run when they do not.
  base::Result<std::string> checkEager(const std::vector<NamedTensor>& expected) const;

 private:
  base::DType m_low;
  const AxisProbe& m_axes;
  std::vector<Output> m_outputs;

  int axisOf(std::size_t output, const at::Tensor& tensor, Batch batch) const;
};

}  // namespace ulpscope::engine
