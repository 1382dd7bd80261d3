// The fixed reference set as tensors. Private to core/engine.
#pragma once

#include "core/base/error.h"
#include "core/engine/comparison.h"
#include "core/engine/forward.h"
#include "core/engine/loaded_model.h"
#include "core/engine/values.h"
#include "core/session/session.h"
#include "core/session/settings.h"

#include <map>
#include <string>
#include <vector>

namespace ulpscope::engine {

struct InputTensor {
  at::Tensor tensor;   // all samples
  int sampleAxis = 0;  // -1: shared by all samples
  c10::IValue constant;  // a non-tensor argument (int, float, bool), given as a scalar; then tensor is undefined
};

struct ReferenceSet {
  std::map<std::string, InputTensor> inputs;  // by argument name
  std::vector<NamedTensor> expected;          // saved eager FP32 outputs, may be empty
  session::SampleSet samples;
  std::vector<std::int64_t> chosen;           // samples of the file that are in it; empty: all
};

// Reads inputs, labels and class names of the request; checks names against the model's arguments and sample counts against
// each other. Errors name the argument, both numbers and what to do.
base::Result<ReferenceSet> loadReferenceSet(const session::RunRequest& request, const LoadedModel& model);

// The set with these samples only. Error kind usage for an id that it does not have. The saved eager outputs stay
// those of all samples; `chosen` says which rows of them are meant.
base::Status restrictTo(ReferenceSet& set, const std::vector<std::string>& ids);

// Arguments of forward for some samples, by their numbers; shared inputs whole.
Arguments argumentsFor(const ReferenceSet& set, const std::vector<std::int64_t>& samples);
Arguments argumentsFor(const ReferenceSet& set, Batch batch);

}  // namespace ulpscope::engine
