// Runs with captured tensors of any type, shape and strides, for the tests of the writer.
#pragma once

#include "core/storage/run_writer.h"
#include "tests/core/storage/sample_session.h"

#include <string>
#include <vector>

namespace ulpscope::tests {

struct Captured {
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // empty: contiguous, and samples stand on axis 0
  std::string bytes;
  std::int64_t offset = 0;  // of the first element, in elements
};

// Every bit random, always the same; booleans are 0 or 1.
Captured randomCapture(base::DType dtype, const std::vector<std::int64_t>& shape);

// One capture each, the same block for both runs. The first error's message, or "".
std::string captureAll(storage::RunWriter& writer, const std::vector<Captured>& captures);
// Ends a run of as many op sites, of which the last two modules' outputs and a container's are named.
base::Result<session::Session> finish(storage::RunWriter& writer, const std::vector<Captured>& captures);
std::string checkpoint(storage::RunWriter& writer, std::int64_t samplesComplete);

}  // namespace ulpscope::tests
