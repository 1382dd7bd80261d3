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

// Batches one after another along their samples' axis, which stays folded as it was. Undefined for wholeBatch or without parts.
at::Tensor joinSamples(const std::vector<at::Tensor>& parts, const session::SampleAxis& axis, const std::vector<std::int64_t>& sizes);
// The same samples from last to first. Precondition: `axis` tells them apart.
at::Tensor reverseSamples(const at::Tensor& tensor, const session::SampleAxis& axis, std::int64_t samples);

class OutputCollector {
 public:
  OutputCollector(base::DType low, const AxisProbe& axes) : m_low(low), m_axes(axes) {}

  // An output that has another shape in the other run, or is missing there, is a finding and is not compared, in no batch.
  void add(Batch batch, const std::vector<NamedTensor>& reference, const std::vector<NamedTensor>& candidate);
  const std::vector<session::ControlFlowFinding>& differences() const { return m_differences; }

  struct Output {
    std::string name;
    session::SampleAxis axis;  // wholeBatch: none found, the output is not joined over batches
    bool comparable = true;  // false: the runs gave other shapes
    std::vector<at::Tensor> reference, candidate;  // one a batch
    std::vector<std::int64_t> batchSizes;
    analysis::SampleDivergence total;
    std::vector<bool> nonfinite;  // one a sample: the candidate alone is non-finite; empty without an axis
    base::DType candidateDtype = base::DType::float32;

    at::Tensor joinedReference() const { return joinSamples(reference, axis, batchSizes); }  // undefined when there is no axis
    at::Tensor joinedCandidate() const { return joinSamples(candidate, axis, batchSizes); }
    at::Tensor whole(const std::vector<at::Tensor>& parts) const;  // joined, or the one batch there is; undefined: several, without an axis
    at::Tensor rowsOf(const at::Tensor& eager, const std::vector<std::int64_t>& chosen) const;  // undefined: no axis counts the samples
    bool tellsSamples() const { return axis.kind != session::SampleAxis::Kind::wholeBatch; }
  };
  const std::vector<Output>& outputs() const { return m_outputs; }
  session::SampleAxis sampleAxisOf(const std::string& output) const;  // wholeBatch: none, or no such output
  // Samples (their numbers in the run) of which some output is non-finite in the candidate alone.
  std::vector<std::int64_t> nonfiniteSamples() const;

  std::vector<session::OutputSummary> summaries() const;
  // Outputs of one batch, or whose samples are told apart.
  std::vector<storage::OutputTensors> tensors() const;
  // Names of the others: they are in no file.
  std::vector<std::string> notStored() const;
  // "FP32 outputs agree with the saved eager outputs to 1.2e-7", "" when none were saved; error kind run when they do not.
  // saved: over all samples of the file; chosen: those that ran, empty: all.
  base::Result<std::string> checkEager(const std::vector<NamedTensor>& saved, const std::vector<std::int64_t>& chosen = {}) const;

 private:
  base::DType m_low;
  const AxisProbe& m_axes;
  std::vector<Output> m_outputs;
  std::vector<session::ControlFlowFinding> m_differences;

  void addOne(Output& output, Batch batch, const at::Tensor& reference, const at::Tensor* candidate);

  session::SampleAxis axisOf(std::size_t output, const at::Tensor& tensor, Batch batch) const;
};

// Sample by sample; all is one sample where `axis` does not tell them apart. Precondition: readable, equal sizes.
std::vector<analysis::SampleDivergence> divergenceOfSamples(const at::Tensor& reference, const at::Tensor& candidate, const session::SampleAxis& axis,
                                                            std::int64_t samples, base::DType low);

}  // namespace ulpscope::engine
