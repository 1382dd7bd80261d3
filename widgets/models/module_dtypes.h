// In which dtype each module ran in the candidate.
#pragma once

#include "core/session/run_record.h"

#include <QString>

#include <map>
#include <string>
#include <vector>

namespace ulpscope::models {

// Of the module's outputs; where the run recorded none, of its own op sites; of a module that only groups others, of those inside.
// Floating dtypes only, in rising order of DType.
struct ModuleDtypes {
  enum class Of { nothing, outputs, ownOps, opsInside } of = Of::nothing;  // nothing: no floating-point values
  std::vector<base::DType> dtypes;
};
std::map<std::string, ModuleDtypes> moduleDtypes(const session::RunRecord& run);
QString dtypesText(const ModuleDtypes& dtypes);     // "FP16", "BF16", "FP32", "mixed", "–"
QString dtypesTooltip(const ModuleDtypes& dtypes);  // "returned float16, float32"

}  // namespace ulpscope::models
