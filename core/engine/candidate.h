// The candidate's way of running ops, and what is said where one of the runs is no use. Private to core/engine.
#pragma once

#include "core/engine/executors.h"
#include "core/engine/inputs.h"
#include "core/engine/loaded_model.h"
#include "core/engine/lockstep.h"
#include "core/engine/policy_table.h"
#include "core/engine/regions.h"
#include "core/session/settings.h"

#include <memory>

namespace ulpscope::engine {

// Native or emulated, as the settings say. `table` and `regions` must outlive it.
std::unique_ptr<OpExecutor> candidateExecutor(const session::RunSettings& settings, const PolicyTable& table, const RegionSet& regions, session::Accumulate accumulate);

// What PyTorch said, and what the model was given, with which dtypes its parameters have.
base::Error referenceFailed(const LoadedModel& model, const ReferenceSet& set, const SideResult& reference);

// That no op of the candidate ran in the low dtype.
base::Error nothingAutocast(const session::RunSettings& settings, const RegionSet& regions);

}  // namespace ulpscope::engine
