#include "core/engine/candidate.h"

#include "core/engine/native_executor.h"
#include "core/engine/run_frame.h"

#include <fmt/format.h>

#include <set>

namespace ulpscope::engine {

using base::Error;
using base::ErrorKind;

std::unique_ptr<OpExecutor> candidateExecutor(const session::RunSettings& settings, const PolicyTable& table, const RegionSet& regions, session::Accumulate accumulate) {
  if (settings.mode == session::Mode::native) return std::make_unique<NativeExecutor>(NativeExecutor::Options{&regions, settings.castCache});
  return std::make_unique<EmulatedExecutor>(
      EmulatedExecutor::Options{&table, scalarTypeOf(settings.autocast), &regions, settings.castCache, accumulate == session::Accumulate::pessimistic});
}

Error referenceFailed(const LoadedModel& model, const ReferenceSet& set, const SideResult& reference) {
  std::string given;
  for (const auto& [name, input] : set.inputs)
    if (input.tensor.defined())
      given += fmt::format("{}{} {} {}", given.empty() ? "" : ", ", name, base::name(dtypeOf(input.tensor.scalar_type())), shapeText(input.tensor.sizes()));
  std::set<std::string> parameters;
  for (const auto& p : model.module.named_parameters()) parameters.insert(isKnown(p.value.scalar_type()) ? base::name(dtypeOf(p.value.scalar_type())) : "other");
  const bool low = parameters.count("float16") > 0 || parameters.count("bfloat16") > 0;
  return Error{ErrorKind::run, "the FP32 reference failed: " + reference.error, whereText(reference),
               (low ? "export the FP32 model (model.float()): Ulpscope lowers the precision itself; " : "") +
                   fmt::format("the model was given {}; its parameters are {}", given, parameters.empty() ? "none" : fmt::format("{}", fmt::join(parameters, ", ")))};
}

Error nothingAutocast(const session::RunSettings& settings, const RegionSet& regions) {
  return Error{ErrorKind::inconclusive, "nothing was autocast: no op of the candidate ran in " + base::name(settings.autocast), "run",
               regions.empty() ? "no op that ran with autocast on is on the lower_precision_fp list (ulpscope inspect lists them; a model's own "
                                 "autocast(enabled=False) counts as off)"
                               : "take a module out of the FP32 regions"};
}

}  // namespace ulpscope::engine
