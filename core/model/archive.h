// The gate before LibTorch: loading is not safe there (deep nesting overflows the stack, a storage record shorter than
// declared is read out of bounds), so a file is checked here first.
#pragma once

#include "core/base/error.h"
#include "core/model/model_info.h"

#include <string>

namespace ulpscope::model {

// Limits above any real model and below what overflows a stack.
inline constexpr int kMaxCodeNesting = 1000;
inline constexpr int kMaxPickleNesting = 1000;

// Checks a TorchScript archive (.pt, .ts; also a module that only holds tensors): it is a zip, every record's CRC
// is right, no record is larger than the file allows, it has constants.pkl / data.pkl and code/, every storage that
// data.pkl and constants.pkl declare has a record of at least that many bytes, every tensor lies within its storage,
// nesting of code and pickles is below the limits. Gives the fingerprint: SHA-256 over names and bytes of code/* (but
// for *.debug_pkl, which hold paths of the exporting machine), and of data/* with data.pkl and constants, in name order.
// Errors (kind input) name file and fault and say what to do: missing, empty, a folder, not a zip ("state dict or pickle:
// export with torch.jit.script/trace, see ulpscope snippet"), a plain torch.save archive (no code/), a torch.export
// .pt2, truncated, CRC, short storage, nesting.
base::Result<Fingerprint> checkArchive(const std::string& path);

}  // namespace ulpscope::model
