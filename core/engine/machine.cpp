#include "core/engine/machine.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace ulpscope::engine {
namespace {

// The value of the first line with this name; empty: there is none.
std::string cpuInfo(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.rfind(name, 0) != 0 || line.find_first_not_of(" \t", name.size()) != colon) continue;
    const auto value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

}  // namespace

std::string processorName() {
  const std::string name = cpuInfo("model name");
  return name.empty() ? "unknown" : name;
}

std::vector<std::string> bfloat16Instructions() {
  std::vector<std::string> found;
  std::istringstream words(cpuInfo("flags") + " " + cpuInfo("Features"));  // x86 and ARM
  for (std::string word; words >> word;)
    if (word.find("bf16") != std::string::npos) found.push_back(word);
  return found;
}

int usableProcessors() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

double loadAverage() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ulpscope::engine
