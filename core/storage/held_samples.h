// Private: samples of a tensor that a saved module holds.
#pragma once

#include "core/model/held_tensors.h"
#include "core/storage/input_samples.h"

namespace ulpscope::storage {

bool looksLikeZip(const std::string& path);  // by its signature

// As readSamples. Precondition: axis and samples exist. Error kind input also for samples that do not lie in one piece each, where the
// whole tensor is larger than slices.mostBytes.
base::Result<std::vector<RawTensor>> readHeldSamples(const std::string& path, const model::HeldTensor& tensor, const SampleSlices& slices);

}  // namespace ulpscope::storage
