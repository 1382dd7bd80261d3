// Private: HDF5 neither checks what it reads nor survives everything it is given, so two nets hang before it.
//
// A digest at the end of every file we write finds any changed byte, in numbers too. A trial read in a child process
// finds the files that make HDF5 itself crash or run on for ever (1.10 does on damaged string heaps).
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ulpscope::storage {

// Appends "\nULPSCOPE SHA-256 <64 hex digits>\n", which HDF5 does not look at.
void appendDigest(std::vector<std::byte>& image);
// Error when the file ends in a digest that is not its own or is cut short; a file without one (another program wrote
// it) passes.
base::Status checkDigest(const std::string& path);

// Runs `read` in a child process and gives its outcome, an Error when the child dies of it. So this process lets HDF5
// near no file that it fails on (it cannot always close what it half opened).
base::Status tryInChild(const std::string& path, const std::function<base::Status()>& read);

}  // namespace ulpscope::storage
