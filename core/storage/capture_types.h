// Private: element types of captured tensors as h5py knows them, and the names in a capture's group.
#pragma once

#include "core/base/dtype.h"
#include "core/storage/h5_data.h"
#include "core/storage/run_writer.h"

#include <string>

namespace ulpscope::storage {

inline constexpr const char* kCaptures = "captures";  // group in the run's entry
inline constexpr const char* kModules = "modules";
inline constexpr const char* kRowsWritten = "rows_written";

// Little-endian, float16 and bfloat16 with their own bits, bool as h5py's enumeration, complex as its pair (r, i).
h5::Type typeOf(base::DType dtype);
// Which of those it is, exactly; fails for any other.
base::DType dtypeOf(hid_t type, const std::string& name);

std::string captureName(std::size_t index);      // "capture_000000"
std::string sideName(RunSide side);              // "reference"
std::string batchName(RunSide side, std::int64_t batch);  // "reference_b0000"

}  // namespace ulpscope::storage
