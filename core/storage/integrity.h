// Private: HDF5 neither checks what it reads nor survives everything it is given, so two nets hang before it.
//
// A digest at the end of every file we write finds any changed byte, in numbers too. A file without one (another program
// wrote it) is first read in a child process: that finds the files that make HDF5 itself crash or run on for ever (1.10
// does on damaged string heaps). The digest guards against damage, not against a forger, who can write one too.
#pragma once

#include "core/base/error.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// Appends "\nULPSCOPE SHA-256 <64 hex digits>\n", which HDF5 does not look at.
void appendDigest(std::vector<std::byte>& image);

enum class Digest { none, intact };
// Reads the whole file where it ends in a digest. Error when that is not the file's own, or is cut short.
base::Result<Digest> checkDigest(const std::string& path);

// Whether the file ends as a finished one of ours does; reads only its end.
bool endsInDigest(const std::string& path);

// How long a trial read of a file of that size may take; a slow disk and a busy machine included.
std::chrono::milliseconds trialPatience(const std::string& path);

// Runs `read` in a child process and gives its outcome, an Error when the child dies of it or does not end in time. So
// this process lets HDF5 near no file that it fails on (it cannot always close what it half opened).
//
// Other threads may run: of the locks they can hold at the fork, malloc's are safe (glibc), HDF5's is ours to hold (h5_guard.h),
// and `read` must take no other (no OpenSSL, no logging). Should it wait for one all the same, patience ends it.
base::Status tryInChild(const std::string& path, const std::function<base::Status()>& read, std::chrono::milliseconds patience);

}  // namespace ulpscope::storage
