// Private: the header of numpy's .npy format, versions 1.0 to 3.0 (numpy/lib/format.py).
#pragma once

#include "core/storage/plain_arrays.h"

#include <string_view>

namespace ulpscope::storage {

inline constexpr std::size_t kMostNpyHeader = std::size_t{1} << 16;  // bytes that are looked at; numpy's own have about 128

bool looksLikeNpy(std::string_view start);

// type, shape, fortranOrder and firstByte of an array whose file or record begins with `start` (its first kMostNpyHeader bytes, or all). The
// header is a Python dict, read as the literal it is and never run. Error kind input names `place`: a damaged header, element types that are
// neither a tensor's nor text (objects, records, dates, float128), a shape whose bytes are not the `sizeBytes` that the file has.
base::Result<PlainArray> readNpyHeader(std::string_view start, std::uint64_t sizeBytes, const std::string& place);

}  // namespace ulpscope::storage
