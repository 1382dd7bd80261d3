// One forward of one run. Private to core/engine.
#pragma once

#include "core/engine/executors.h"
#include "core/engine/lockstep.h"
#include "core/engine/operand_trace.h"

#include <torch/csrc/jit/api/module.h>

#include <unordered_map>

namespace ulpscope::engine {

using Arguments = std::unordered_map<std::string, c10::IValue>;
// Inputs are each run's own: a model may write them.
Arguments ownCopies(const Arguments& arguments);

struct ForwardSetup {
  torch::jit::Module* module = nullptr;
  const PathAliases* aliases = nullptr;
  const RegionSet* regions = nullptr;  // where autocast is off; the reference has an empty set
  OpExecutor* executor = nullptr;
  Arguments arguments;
  std::uint64_t seed = 0;
  int threads = 1;
  std::vector<std::string>* brokenAliases = nullptr;  // may be null
  DescriptionCache* descriptions = nullptr;           // of earlier forwards of this side; may be null
  ReturnSink onReturn = {};                           // may be empty
  Origins* origins = nullptr;                         // told of inputs and border casts; may be null
  std::string device = "cuda";                        // of the policy: whose own autocast regions count
  Gradients gradients = Gradients::off;               // on: autograd runs through the casts, so that gradients round where CUDA's do
};

// Runs forward on this thread under interception; Cancelled and the sink's own exceptions pass through, the model's become the
// result's error. Without a sink nobody looks at the ops.
SideResult runForward(const ForwardSetup& setup, EventSink sink);

// The same around another piece of code, as a loss: its ops stand in the module path the body enters at the place. setup.module and
// setup.arguments are not used.
using Body = std::function<c10::IValue(ExecutionPlace& place)>;
SideResult runUnder(const ForwardSetup& setup, const Body& body, EventSink sink);

// The same model without any of our doing: no hook, no markers acting. For the probe check.
SideResult runPlain(const ForwardSetup& setup);

}  // namespace ulpscope::engine
