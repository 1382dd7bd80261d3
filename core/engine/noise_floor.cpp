#include "core/engine/noise_floor.h"

#include "core/engine/blas_threads.h"
#include "core/engine/values.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace ulpscope::engine {

using base::Error;
using base::ErrorKind;

NoiseFloorRun::NoiseFloorRun(const RunFrame& frame, const OutputCollector& reference)
    : m_frame(frame), m_reference(reference), m_sites(frame.axes, frame.settings.autocast, SampleOrder::reversed) {}

// Op sites: the first batch in lock-step with the reference. Both share one BLAS, so there the order alone differs in it.
base::Status NoiseFloorRun::measureSites(std::stop_token stop) {
  const Batch batch = m_frame.batches.front();
  torch::jit::Module module = copyForRun(m_frame.model.module, m_frame.settings.trainMode);
  torch::jit::Module other = copyForRun(m_frame.model.module, m_frame.settings.trainMode);
  ReferenceExecutor first, second;  // one a thread
  const Arguments arguments = argumentsFor(m_frame.set, batch), turned = argumentsFor(m_frame.set, reversed(batch));
  m_sites.beginBatch(batch);
  const PairResult pair = runPair([&](const EventSink& sink) { return runForward(m_frame.reference(module, first, arguments), sink); },
                                  [&](const EventSink& sink) { return runForward(m_frame.reference(other, second, turned, kFloorThreads), sink); }, m_sites, stop);
  return pair.cancelled ? base::Status(cancelledError()) : base::success();
}

void NoiseFloorRun::keep(const SideResult& result, Batch batch) {
  for (const NamedTensor& output : flattenOutputs(result.value)) {
    const session::SampleAxis axis = m_reference.sampleAxisOf(output.name);
    if (analysis::layoutOf(output.tensor.sizes().vec(), axis, batch.size).kind == session::SampleAxis::Kind::wholeBatch) continue;
    m_outputs[output.name].push_back(reverseSamples(output.tensor, axis, batch.size));
  }
}

base::Status NoiseFloorRun::measure(RunProgress& progress, std::stop_token stop) {
  if (m_frame.settings.observe != session::Observe::outputs)
    if (auto status = measureSites(stop); !status) return status;
  const BlasThreads blas(kFloorThreads, kThreadsPerRun);
  torch::jit::Module module = copyForRun(m_frame.model.module, m_frame.settings.trainMode);
  ReferenceExecutor plain;
  for (const Batch& batch : m_frame.batches) {
    if (stop.stop_requested()) return cancelledError();
    progress.at(batch, 0, "", "");
    const SideResult result = runForward(m_frame.reference(module, plain, argumentsFor(m_frame.set, reversed(batch)), kFloorThreads), {});
    if (result.failed)
      return Error{ErrorKind::run, "FP32 fails on the same samples in another order: " + result.error, whereText(result),
                   "the model's result hangs on the order of its samples; --no-noise-floor leaves this run out"};
    keep(result, batch);
  }
  return base::success();
}

at::Tensor NoiseFloorRun::output(const std::string& name) const {
  const auto found = m_outputs.find(name);
  if (found == m_outputs.end() || found->second.size() != m_frame.batches.size()) return {};
  std::vector<std::int64_t> sizes;
  for (const Batch& batch : m_frame.batches) sizes.push_back(batch.size);
  return joinSamples(found->second, m_reference.sampleAxisOf(name), sizes);
}

session::NoiseFloor NoiseFloorRun::summary() const {
  session::NoiseFloor floor;
  floor.threads = kFloorThreads;
  const base::DType low = m_frame.settings.autocast;
  std::int64_t samples = 0;
  for (const Batch& batch : m_frame.batches) samples += batch.size;
  for (const OutputCollector::Output& reference : m_reference.outputs()) {
    const at::Tensor a = reference.joinedReference();
    const at::Tensor b = output(reference.name);
    if (!isReadable(a) || !isReadable(b) || !isInexact(a) || a.sizes() != b.sizes()) continue;
    session::OutputFloor outputFloor{reference.name, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    const auto worse = [](double worst, double value) { return std::isnan(worst) || value > worst ? value : worst; };
    for (const auto& d : divergenceOfSamples(a, b, reference.axis, samples, low)) {
      outputFloor.maxAbs = worse(outputFloor.maxAbs, d.maxAbsOrNan());
      outputFloor.relL2 = worse(outputFloor.relL2, d.relL2());
    }
    floor.outputs.push_back(outputFloor);
  }
  return floor;
}

}  // namespace ulpscope::engine
