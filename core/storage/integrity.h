// Private: HDF5 neither checks what it reads nor survives everything it is given, so two nets hang before it.
//
// A digest at the end of every file we write (digest.h) finds any changed byte, in numbers too. A file without one (another
// program wrote it) is first read in a child process: that finds the files that make HDF5 itself crash or run on for ever (1.10
// does on damaged string heaps).
#pragma once

#include "core/base/error.h"
#include "core/storage/digest.h"

#include <chrono>
#include <functional>
#include <string>

namespace ulpscope::storage {

// How long a trial read of a file of that size may take; a slow disk and a busy machine included.
std::chrono::milliseconds trialPatience(const std::string& path);

// Runs `read` in a child process and gives its outcome, an Error when the child dies of it or does not end in time. So
// this process lets HDF5 near no file that it fails on (it cannot always close what it half opened).
//
// Other threads may run: of the locks they can hold at the fork, malloc's are safe (glibc), HDF5's is ours to hold (h5_guard.h),
// and `read` must take no other (no OpenSSL, no logging). Should it wait for one all the same, patience ends it.
base::Status tryInChild(const std::string& path, const std::function<base::Status()>& read, std::chrono::milliseconds patience);

}  // namespace ulpscope::storage
