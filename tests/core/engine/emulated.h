// Runs a body as a model's code runs in a run of the engine: under the hook, with emulated autocast.
#pragma once

#include "core/engine/executors.h"
#include "core/engine/forward.h"

#include <ATen/ATen.h>

namespace ulpscope::engine {

class Emulated {
 public:
  explicit Emulated(at::ScalarType low = at::kHalf, const PolicyTable& table = cuda212()) : m_options{&table, low, &m_noRegions} {}
  Emulated(const Emulated&) = delete;
  Emulated& operator=(const Emulated&) = delete;

  Emulated& autocastOff() {
    m_autocastOff = true;
    return *this;
  }
  Emulated& withoutCastCache() {
    m_options.castCache = false;
    return *this;
  }
  Emulated& splittingSums() {
    m_options.splitSums = true;
    return *this;
  }
  Emulated& withGradients() {
    m_gradients = true;
    return *this;
  }

  template <typename F>
  auto operator()(F body) {
    const ModelThreadGuard thread(1);
    const at::AutoGradMode gradients(m_gradients);
    const PathAliases aliases;
    ExecutionPlace place(m_noRegions, aliases, m_options.table->device());
    if (m_autocastOff) place.enterOwnAutocast(m_options.table->device(), false, m_options.low);
    EmulatedExecutor executor(m_options);
    DescriptionCache descriptions;
    ObservingHook hook(place, executor, {}, 0, descriptions);
    const PlaceGuard atPlace(place);
    const InterceptionGuard intercept(hook);
    return body();
  }

 private:
  RegionSet m_noRegions;
  EmulatedExecutor::Options m_options;
  bool m_autocastOff = false, m_gradients = false;
};

inline at::Tensor float32(std::vector<double> values, std::vector<std::int64_t> shape) { return at::tensor(values, at::kDouble).to(at::kFloat).view(shape); }

}  // namespace ulpscope::engine
