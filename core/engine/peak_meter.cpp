#include "core/engine/peak_meter.h"

#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace ulpscope::engine {
namespace {

// "VmHWM" or "VmRSS", in bytes; 0: the system does not tell.
std::int64_t memoryOf(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return 1024 * std::atoll(line.c_str() + field.size() + 1);
  return 0;
}

bool resetPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace

PeakMeter::PeakMeter() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
  if (!resetPeak()) m_start.whyNot = "this system does not let a process set its high-water mark back (/proc/self/clear_refs)";
  m_start.beforeBytes = memoryOf("VmRSS");
  if (m_start.beforeBytes == 0) m_start.whyNot = "this system does not tell a process its resident memory (/proc/self/status)";
}

session::PeakMemory PeakMeter::read() const {
  session::PeakMemory memory = m_start;
  if (memory.whyNot.empty()) memory.peakBytes = memoryOf("VmHWM");
  return memory;
}

}  // namespace ulpscope::engine
