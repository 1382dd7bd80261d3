#include "core/engine/noise_floor.h"

#include "core/engine/values.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace ulpscope::engine {

using base::Error;
using base::ErrorKind;
using base::Result;

NoiseFloorRun::NoiseFloorRun(const RunFrame& frame, const OutputCollector& reference)
    : m_frame(frame), m_reference(reference), m_sites(frame.axes, frame.settings.autocast, SampleOrder::reversed) {}

// The first batch in lock-step with the reference, for the op sites; the others alone.
Result<SideResult> NoiseFloorRun::forward(const Batch& batch, torch::jit::Module& module, torch::jit::Module& first, std::stop_token stop) {
  ReferenceExecutor plain;
  const ForwardSetup other = m_frame.reference(module, plain, argumentsFor(m_frame.set, reversed(batch)), kFloorThreads);
  if (batch.first != 0 || m_frame.settings.observe == session::Observe::outputs) return runPlain(other);
  const Arguments arguments = argumentsFor(m_frame.set, batch);
  m_sites.beginBatch(batch);
  PairResult pair = runPair([&](const EventSink& sink) { return runForward(m_frame.reference(first, plain, arguments), sink); },
                            [&](const EventSink& sink) { return runForward(other, sink); }, m_sites, stop);
  if (pair.cancelled) return cancelledError();
  return std::move(pair.candidate);
}

void NoiseFloorRun::keep(const SideResult& result) {
  for (const NamedTensor& output : flattenOutputs(result.value)) {
    const int axis = m_reference.sampleAxisOf(output.name);
    if (axis >= 0 && axis < output.tensor.dim()) m_outputs[output.name].push_back(output.tensor.flip({axis}));
  }
}

base::Status NoiseFloorRun::measure(RunProgress& progress, std::stop_token stop) {
  torch::jit::Module module = copyForRun(m_frame.model.module, m_frame.settings.trainMode);
  torch::jit::Module first = copyForRun(m_frame.model.module, m_frame.settings.trainMode);
  for (const Batch& batch : m_frame.batches) {
    if (stop.stop_requested()) return cancelledError();
    progress.at(batch, 0, "", "");
    auto result = forward(batch, module, first, stop);
    if (!result) return result.error();
    if (result->failed)
      return Error{ErrorKind::run, "FP32 fails on the same samples in another order: " + result->error, whereText(result.value()),
                   "the model's result hangs on the order of its samples; --no-noise-floor leaves this run out"};
    keep(result.value());
  }
  return base::success();
}

at::Tensor NoiseFloorRun::output(const std::string& name) const {
  const auto found = m_outputs.find(name);
  if (found == m_outputs.end() || found->second.size() != m_frame.batches.size()) return {};
  return found->second.size() == 1 ? found->second.front() : at::cat(found->second, m_reference.sampleAxisOf(name));
}

session::NoiseFloor NoiseFloorRun::summary() const {
  session::NoiseFloor floor;
  floor.threads = kFloorThreads;
  const base::DType low = m_frame.settings.autocast;
  for (const OutputCollector::Output& reference : m_reference.outputs()) {
    const at::Tensor a = reference.joinedReference();
    const at::Tensor b = output(reference.name);
    if (!isReadable(a) || !isReadable(b) || !a.is_floating_point() || a.sizes() != b.sizes()) continue;
    session::OutputFloor outputFloor{reference.name, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    const auto worse = [](double worst, double value) { return std::isnan(worst) || value > worst ? value : worst; };
    for (const auto& d : divergenceOfSamples(a, b, reference.sampleAxis, low)) {
      outputFloor.maxAbs = worse(outputFloor.maxAbs, d.maxAbsOrNan());
      outputFloor.relL2 = worse(outputFloor.relL2, d.relL2());
    }
    floor.outputs.push_back(outputFloor);
  }
  return floor;
}

}  // namespace ulpscope::engine
