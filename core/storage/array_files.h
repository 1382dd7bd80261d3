// Private: what opens files of plain arrays. Nothing but headers is read; every array is checked to lie inside its file.
#pragma once

#include "core/storage/plain_arrays.h"

namespace ulpscope::storage {

// numpy.save: one array, which has no name; it is called "arr_0" here, as numpy.savez calls those without one.
base::Result<PlainArrays> openNpy(const std::string& path);
// numpy.savez and savez_compressed: records NAME.npy, stored or deflated.
base::Result<PlainArrays> openNpz(const std::string& path);
// safetensors: 8 bytes of length, a JSON header, then the tensors without holes or overlaps (github.com/huggingface/safetensors, "Format").
base::Result<PlainArrays> openSafetensors(const std::string& path);

}  // namespace ulpscope::storage
