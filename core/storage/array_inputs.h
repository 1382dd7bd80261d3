// Private: what the arrays of a file mean to a run, by their names (input_file.h).
#pragma once

#include "core/storage/plain_arrays.h"

namespace ulpscope::storage {

base::Result<InputFile> inputsOf(const PlainArrays& file);
base::Result<std::vector<InputShape>> shapesOf(const PlainArrays& file);
base::Result<std::vector<RawTensor>> samplesOf(const PlainArrays& file, const SampleSlices& slices);
base::Result<Truth> truthOf(const PlainArrays& file);
base::Result<std::vector<std::string>> classNamesOf(const PlainArrays& file);

}  // namespace ulpscope::storage
