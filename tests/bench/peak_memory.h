// Peak memory of a part of a program, each part in a fresh process.
#pragma once

#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace ulpscope::bench {

// "VmHWM" or "VmRSS" of this process, in MB (10^6).
inline double memoryMb(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return 1024e-6 * std::atof(line.c_str() + field.size() + 1);
  return 0;
}

// Highest resident memory while body runs, above what lay there before; freed memory is given back first.
template <typename F>
double peakAboveRest(F&& body) {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // sets VmHWM back to VmRSS
  const double before = memoryMb("VmRSS");
  body();
  return memoryMb("VmHWM") - before;
}

// Runs this program again with these arguments, and reads the number that it prints.
inline double megabytesOfChild(const std::string& arguments) {
  const std::string command = fmt::format("'{}' {}", std::filesystem::read_symlink("/proc/self/exe").string(), arguments);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  double megabytes = 0;
  const bool read = pipe && std::fscanf(pipe, "%lf", &megabytes) == 1;
  if (!pipe || ::pclose(pipe) != 0 || !read) {
    fmt::print(stderr, "{} failed\n", command);
    std::exit(1);
  }
  return megabytes;
}

}  // namespace ulpscope::bench
