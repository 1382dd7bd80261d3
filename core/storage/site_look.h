// A look at one op output: one sample of it in both runs, without reading the rest of a tensors file.
//
// Held against what was written: session id, run id, op site, dtype and shape as readCapture() does it; the file's digest where what it
// covers (all but captured tensors) is at most 16 MiB, otherwise HDF5 is tried in a process of its own first; and the checksum of
// each stored block that the look reads from and that is at most 8 MiB or half read. A larger block of which little is read is not
// hashed: SiteLook::verified is false then. readCapture() and `ulpscope pack` hold everything against its checksum.
//
// Thread: any; waits for others that use HDF5.
#pragma once

#include "core/base/pair.h"
#include "core/storage/session_store.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::storage {

// What a run stored of an op site, by its record alone.
struct StoredSite {
  enum class Kind {
    nothing,
    captured,  // number: into RunRecord::capture->sites
    leftOut,   // number: into RunRecord::capture->leftOut
    output     // number: into RunRecord::outputs; a model output that is this site's whole result
  } kind = Kind::nothing;
  std::size_t number = 0;
};
StoredSite storedSite(const session::RunRecord& run, std::int64_t site);

// Elements of one run as stored, row-major, in native byte order. The sample axis keeps its place, with that sample's entries only:
// entry i of it is entry `first + i * step` of the stored tensor.
struct TensorPart {
  base::DType dtype = base::DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  int sampleAxis = -1;  // -1: the whole batch, its samples could not be told apart
  std::int64_t first = 0, step = 1;
};

struct SiteLook {
  base::Reference<TensorPart> reference{TensorPart{}};
  base::Candidate<TensorPart> candidate{TensorPart{}};  // of the same shape
  std::int64_t batch = 0;  // the batch that held the sample
  bool verified = false;   // every byte was held against a checksum or the digest
};

struct LookRequest {
  std::string masterPath;
  std::string runId;
  std::int64_t site = -1;
  std::int64_t sample = 0;  // index into the session's samples
};
// Errors: kind usage for a run, site or sample that there is not, or that was not stored; kind input as readOutputs', damage, a sample
// that the run did not reach, more than 512 MiB in one piece.
base::Result<SiteLook> lookAt(const session::Session& session, const LookRequest& request);

}  // namespace ulpscope::storage
