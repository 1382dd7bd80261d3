#include "core/storage/training_checkpoint.h"

#include "core/base/hashing.h"
#include "core/storage/atomic_file.h"
#include "core/storage/checkpoint_file.h"
#include "core/storage/h5_guard.h"
#include "core/storage/session_paths.h"

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

constexpr mode_t kFileMode = 0444;
constexpr const char* kRemedy = "restore it from a copy, or go on from another checkpoint";

// What was asked for is right, only the file could not be made.
Error asRunError(Error error) {
  if (error.kind != ErrorKind::usage) error.kind = ErrorKind::run;
  return error;
}

Status place(const std::string& path, const std::vector<std::byte>& image) {
  NewFile file(path, kFileMode);
  if (auto made = file.create(); !made) return made;
  if (auto written = file.write(reinterpret_cast<const char*>(image.data()), image.size()); !written) return written;
  return file.finish();
}

// Nothing that a program changed or a copy lost can go on bit for bit, so the digest must be there; what HDF5 finds wrong says more.
Error withoutDigest(const std::string& path) {
  const std::scoped_lock alone(h5::libraryMutex());
  const auto ours = h5::triedAndRead(path, [&] {
    checkCheckpointKind(h5::openForReading(path, h5::Locking::none));
    return base::Done{};
  });
  if (!ours) return ours.error();
  return {ErrorKind::input, "does not end in its digest: it was cut short, or another program changed it", path, kRemedy};
}

}  // namespace

Result<std::string> writeCheckpoint(const std::string& path, const TrainingCheckpoint& checkpoint) {
  if (exists(path)) return Error{ErrorKind::usage, "exists already", path, "choose another name, or remove it"};
  const auto image = h5::guarded(path, [&] { return checkpointImage(checkpoint); });
  if (!image) return asRunError(image.error());
  if (auto placed = place(path, image.value()); !placed) return asRunError(placed.error());
  return base::sha256({reinterpret_cast<const char*>(image->data()), image->size()});
}

Result<TrainingCheckpoint> readCheckpoint(const std::string& path) {
  if (auto plain = checkPlainFile(path); !plain) return plain.error();
  if (path.ends_with(kPart)) return Error{ErrorKind::input, "is a file whose writing did not come to its end", path, "go on from another checkpoint"};
  const auto whole = h5::checkFile(path);
  if (!whole) return whole.error();
  if (whole->digest != Digest::intact) return withoutDigest(path);
  return h5::guarded(path, [&] { return readCheckpointFile(path); });
}

}  // namespace ulpscope::storage
