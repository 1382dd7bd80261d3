#include "core/engine/plain_forward.h"

#include "core/engine/cpu_autocast.h"

#include <optional>

namespace ulpscope::engine {
namespace {

const RegionSet kNoRegions;

}  // namespace

bool needsMarkers(const LoadedModel& model, const RegionSet& candidate) { return !candidate.empty() || model.ownAutocast; }

std::string interceptionText(bool markers) { return markers ? "off; module markers on in both sides, which switch autocast where a region begins and ends" : "off"; }

SideResult runPlainly(const PlainSide& side, bool markers, const Body& body, Times* times) {
  SideResult result;
  const ModelThreadGuard thread(side.threads, side.gradients);
  try {
    const Stopwatch watch(times);
    std::optional<CpuAutocast> autocast;
    if (side.autocast) autocast.emplace(side.castCache);
    ExecutionPlace place(side.autocast ? *side.regions : kNoRegions, side.model->aliases, "cpu");
    if (side.autocast && markers) place.followAutocast([](bool isOn) { compat::setCpuAutocastEnabled(isOn); });
    std::optional<PlaceGuard> atPlace;
    if (markers) atPlace.emplace(place);
    result.value = body(place);
  } catch (const std::exception& e) {
    result.failed = true;
    result.error = plainMessage(e);
  }
  return result;
}

SideResult forwardPlainly(const PlainSide& side, bool markers, torch::jit::Module& module, const Arguments& arguments, Times* times) {
  const Arguments copies = ownCopies(arguments);
  return runPlainly(side, markers, [&](ExecutionPlace&) { return module.get_method("forward")({}, copies); }, times);
}

}  // namespace ulpscope::engine
