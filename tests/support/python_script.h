// Runs a Python script (with h5py, numpy, torch): the independent reader and writer of our files.
#pragma once

#include "tests/support/scratch_folder.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace ulpscope::tests {

// Runs `script` in `folder`; success when it exits with 0, otherwise its output is the failure's message. The script
// fails by a failed assert.
inline ::testing::AssertionResult python(const ScratchFolder& folder, const std::string& script) {
  writeFile(folder.file("script.py"), script);
  const std::string command = "cd '" + folder.path() + "' && '" ULPSCOPE_PYTHON "' script.py 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return ::testing::AssertionFailure() << "cannot start " ULPSCOPE_PYTHON;
  std::string output;
  for (char piece[4096]; const std::size_t got = std::fread(piece, 1, sizeof piece, pipe);) output.append(piece, got);
  if (::pclose(pipe) == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << output;
}

}  // namespace ulpscope::tests
