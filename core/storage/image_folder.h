// Private: a folder of PNG and JPEG images as inputs: one tensor of all of them, prepared as preprocessing.json says (image_preprocessing.h).
// Sub-folders are classes: labels by their sorted names, as torchvision's ImageFolder; ids are relative paths.
#pragma once

#include "core/storage/input_samples.h"

namespace ulpscope::storage {

// Error kind input names the image that cannot be read, or does not have the size of the first.
base::Result<InputFile> readImageFolder(const std::string& folder);
base::Result<std::vector<InputShape>> imageShapes(const std::string& folder);
// slices.axis must be 0.
base::Result<std::vector<RawTensor>> readImageSamples(const std::string& folder, const SampleSlices& slices);

}  // namespace ulpscope::storage
