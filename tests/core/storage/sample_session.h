// A small session with every field set to something that could get lost.
#pragma once

#include "core/storage/session_store.h"

namespace ulpscope::tests {

struct SampleRun {
  session::RunRecord run;
  storage::RunMetrics metrics;
  std::vector<storage::OutputTensors> outputs;
};

session::Session sampleSession();  // 3 samples, no runs
SampleRun sampleRun();             // 2 sites

// Everything a session holds, as JSON, for comparing.
std::string allOf(const session::Session& session);
std::vector<std::uint32_t> bitsOf(const std::vector<float>& values);

}  // namespace ulpscope::tests
