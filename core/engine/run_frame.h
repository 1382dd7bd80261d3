// What all forwards of one run share. Private to core/engine.
#pragma once

#include "core/engine/axis_probe.h"
#include "core/engine/comparison.h"
#include "core/engine/forward.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/session/settings.h"

#include <utility>
#include <vector>

namespace ulpscope::engine {

inline constexpr int kThreadsPerRun = 1;

struct RunFrame {
  const LoadedModel& model;
  const session::RunSettings& settings;
  const ReferenceSet& set;  // the samples of this run
  const std::vector<Batch>& batches;
  const AxisProbe& axes;
  int threads = kThreadsPerRun;

  // A forward in which autocast is nowhere on.
  ForwardSetup reference(torch::jit::Module& module, OpExecutor& executor, Arguments arguments) const { return reference(module, executor, std::move(arguments), threads); }
  ForwardSetup reference(torch::jit::Module& module, OpExecutor& executor, Arguments arguments, int threadsOfThis) const;
};

// The samples in their order, the last batch smaller where they do not divide.
std::vector<Batch> batchesOf(std::int64_t samples, std::int64_t batchSize);

// The batch's samples, the last one first.
std::vector<std::int64_t> reversed(Batch batch);

// "cancelled", as every step of a run says it.
base::Error cancelledError();

// What failed where: "aten::linear in encoder.0.fc2".
std::string whereText(const SideResult& side);

}  // namespace ulpscope::engine
