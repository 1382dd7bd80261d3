// In which dtype each module ran in the candidate.
#pragma once

#include "core/session/run_record.h"

#include <QString>

#include <map>
#include <string>
#include <vector>

namespace ulpscope::models {

// Of the module's outputs; where the run recorded none, of its own op sites; of a container of neither, of those inside.
// Floating dtypes only, in rising order of DType.
std::map<std::string, std::vector<base::DType>> moduleDtypes(const session::RunRecord& run);
QString dtypesText(const std::vector<base::DType>& dtypes);     // "FP16", "BF16", "FP32", "mixed", "–"
QString dtypesTooltip(const std::vector<base::DType>& dtypes);  // "outputs in float16, float32"

}  // namespace ulpscope::models
