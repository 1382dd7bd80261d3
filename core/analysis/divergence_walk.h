// compareTensors on a chosen instruction set: for tests and benches.
#pragma once

#include "core/analysis/divergence.h"
#include "core/analysis/divergence_kernel.h"

namespace ulpscope::analysis {

// Precondition: isSupported(set).
std::vector<SampleDivergence> compareTensorsWith(InstructionSet set, const base::Reference<TensorView>& reference,
                                                 const base::Candidate<TensorView>& candidate, const SampleLayout& layout,
                                                 const CompareOptions& options);

}  // namespace ulpscope::analysis
