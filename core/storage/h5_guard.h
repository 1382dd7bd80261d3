// Private: the one way into HDF5 from a public function of this folder.
//
// What the body throws (Failure, and what nlohmann and the allocator throw) becomes an Error. HDF5's own printing is off
// meanwhile, and other threads wait.
#pragma once

#include "core/storage/h5.h"
#include "core/storage/integrity.h"

#include <nlohmann/json.hpp>

#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ulpscope::storage::h5 {

// Held by the one thread that is inside HDF5, so that no fork of ours copies HDF5 in the middle of another thread's call.
std::mutex& libraryMutex();

// Runs body (giving T) and gives Result<T>; errors get `place` put before their own. Precondition: the mutex is held.
template <typename Body>
auto caught(const std::string& place, Body body) -> base::Result<std::invoke_result_t<Body>> {
  const Silence silence;
  try {
    return body();
  } catch (const Failure& failure) {
    return failure.error.which.starts_with(place) ? failure.error : failure.error.within(place);
  } catch (const nlohmann::json::exception& e) {
    return base::Error{base::ErrorKind::input, std::string("holds damaged JSON: ") + e.what(), place, "restore the file from a copy"};
  } catch (const std::bad_alloc&) {
    return base::Error{base::ErrorKind::input, "needs more memory than this machine gives", place, "use a smaller file or set"};
  } catch (const std::length_error&) {
    return base::Error{base::ErrorKind::input, "declares more data than memory can hold", place, "use a smaller file or set"};
  }
}

// Before HDF5 sees a file: says in plain words when it is missing, a folder, no plain file, empty, not HDF5 or damaged. mostBytes: as checkDigest's.
base::Result<Integrity> checkFile(const std::string& path, std::uint64_t mostBytes = kAllBytes);
base::Status checkFinished(const std::string& path);  // the same, of the end of a file that we wrote

template <typename Body>
auto guarded(const std::string& place, Body body) {
  const std::scoped_lock alone(libraryMutex());
  return caught(place, body);
}

// First in a child process, then here. Precondition: the mutex is held.
template <typename Body>
auto triedAndRead(const std::string& path, Body body) -> base::Result<std::invoke_result_t<Body>> {
  const auto tried = [&] {
    const auto result = caught(path, body);
    return result ? base::success() : base::Status(result.error());
  };
  if (const auto survived = tryInChild(path, tried, trialPatience(path)); !survived) return survived.error();
  return caught(path, body);
}

// For bodies that read the file at `path`. One that does not end in its own digest is first tried in a child process.
template <typename Body>
auto guardedRead(const std::string& path, Body body) -> base::Result<std::invoke_result_t<Body>> {
  const auto whole = checkFile(path);
  if (!whole) return whole.error();
  const std::scoped_lock alone(libraryMutex());
  return whole->digest == Digest::intact ? caught(path, body) : triedAndRead(path, body);
}

// For bodies that read little of a file that can be huge and must be finished: only looks whether it ends in a digest.
template <typename Body>
auto guardedGlance(const std::string& path, Body body) -> base::Result<std::invoke_result_t<Body>> {
  const auto finished = checkFinished(path);
  if (!finished) return finished.error();
  const std::scoped_lock alone(libraryMutex());
  return triedAndRead(path, body);
}

}  // namespace ulpscope::storage::h5
