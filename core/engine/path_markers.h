// Markers in a model's graphs: where modules are entered and left, which branch and iteration runs, what crosses a module's
// border. They are JIT operators of ours, with conservative aliasing and not dispatched; without a place on the thread they do
// nothing.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace ulpscope::engine {

struct MarkingReport {
  std::vector<std::string> unresolvedCalls;  // "call of an InterfaceType in Encoder.forward": path named by type
  bool ownAutocast = false;                  // the model has autocast regions of its own
  std::vector<std::string> refused;          // a fork that could not be inlined; the model cannot be followed
};

// Marks every method of every class of the module once, and the functions they call. Forks are inlined first.
MarkingReport markPaths(const torch::jit::Module& module);

}  // namespace ulpscope::engine
