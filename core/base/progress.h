// How long work reports where it is. Sinks are called on the working thread and must return quickly.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ulpscope::base {

inline constexpr double kUnknownTime = -1;

struct Progress {
  std::string stage;       // "loading", "finding sample axes", "running", "noise floor", "referee", "writing"
  std::string modulePath;  // where the run stands, may be empty
  std::string op;          // "aten::linear", may be empty
  std::int64_t done = 0;   // samples
  std::int64_t total = 0;  // samples; 0: not known
  double secondsLeft = kUnknownTime;  // of all the work
};

using ProgressSink = std::function<void(const Progress&)>;

}  // namespace ulpscope::base
