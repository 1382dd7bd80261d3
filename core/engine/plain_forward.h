// Forwards without interception: no hook, LibTorch's own kernels alone. What is timed, and what a timed configuration is checked by. Private to
// core/engine and core/train.
#pragma once

#include "core/engine/forward.h"
#include "core/engine/loaded_model.h"
#include "core/engine/timing.h"

#include <string>

namespace ulpscope::engine {

struct PlainSide {
  const LoadedModel* model = nullptr;
  const RegionSet* regions = nullptr;  // of modules; the reference has an empty set
  bool autocast = false;               // LibTorch's own, on the CPU
  bool castCache = true;
  int threads = 1;
  Gradients gradients = Gradients::off;
};

// Whether the candidate needs the path markers: autocast is off in some module, or the model has autocast regions of its own. Then both sides run
// with a place, so that what the markers cost is in both; else neither does.
bool needsMarkers(const LoadedModel& model, const RegionSet& candidate);
// "off", or what goes on in its place.
std::string interceptionText(bool markers);

// Runs `body` on this thread as the side would be run, autocast's begin and end with it; what it throws becomes the result's error. Nothing of ours
// is timed but the markers.
SideResult runPlainly(const PlainSide& side, bool markers, const Body& body, Times* times = nullptr);
// forward of `module`, which is a copy of the model's, on copies of the arguments that are made before the clock starts.
SideResult forwardPlainly(const PlainSide& side, bool markers, torch::jit::Module& module, const Arguments& arguments, Times* times = nullptr);

}  // namespace ulpscope::engine
