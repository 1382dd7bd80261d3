#include "core/engine/run_frame.h"

#include <algorithm>
#include <numeric>

namespace ulpscope::engine {

ForwardSetup RunFrame::reference(torch::jit::Module& module, OpExecutor& executor, Arguments arguments, int threadsOfThis) const {
  static const RegionSet kNoRegions;
  ForwardSetup setup;
  setup.module = &module;
  setup.aliases = &model.aliases;
  setup.regions = &kNoRegions;
  setup.executor = &executor;
  setup.arguments = std::move(arguments);
  setup.seed = settings.seed;
  setup.threads = threadsOfThis;
  return setup;
}

std::vector<Batch> batchesOf(std::int64_t samples, std::int64_t batchSize) {
  std::vector<Batch> batches;
  for (std::int64_t first = 0; first < samples; first += batchSize) batches.push_back({first, std::min(batchSize, samples - first)});
  return batches;
}

std::vector<std::int64_t> reversed(Batch batch) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(batch.size));
  std::iota(samples.rbegin(), samples.rend(), batch.first);
  return samples;
}

base::Error cancelledError() { return {base::ErrorKind::cancelled, "cancelled", "run", "earlier results are kept"}; }

std::string whereText(const SideResult& side) {
  const std::string module = side.modulePath.empty() ? "the root module" : side.modulePath;
  return side.op.empty() ? module : side.op + " in " + module;
}

}  // namespace ulpscope::engine
