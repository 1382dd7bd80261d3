// Which way a sample's margin shrinks fastest: its gradient with respect to the inputs, in FP32. Private to core/engine.
#pragma once

#include "core/engine/scan_runs.h"

#include <map>
#include <string>
#include <vector>

namespace ulpscope::engine {

struct MarginGradient {
  std::map<std::string, std::vector<double>> direction;  // by input: minus the gradient, of length 1 over all of them; empty: none
  double norm = 0;       // of the gradient
  std::string skipped;   // why there is no direction
};

// Of at most a batch of samples, by autograd through the reference; as near as float32 has it. The reference's scores come from the model in the
// mode of the run. Errors: as ScanRuns::look's, and kind run where no gradient reaches the inputs.
base::Result<std::vector<MarginGradient>> marginGradients(const ScanFrame& frame, const std::vector<std::int64_t>& samples, std::stop_token stop);

}  // namespace ulpscope::engine
