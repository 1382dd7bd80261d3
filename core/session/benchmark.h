// How long a forward or a training step takes under autocast and in FP32 on one machine, measured once its numbers had passed.
#pragma once

#include "core/session/verdict.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace ulpscope::session {

// One forward (or training step) of each side on the same batch, one right after the other.
struct TimedPair {
  std::int64_t batch = 0;  // which, counted from 0
  bool candidateFirst = false;
  double referenceSeconds = 0, candidateSeconds = 0;        // of a monotonic clock
  double referenceCpuSeconds = 0, candidateCpuSeconds = 0;  // of the process, all threads together
};

// Resident memory of a process that ran nothing but one side.
struct PeakMemory {
  std::int64_t beforeBytes = 0;  // once model and inputs were loaded, before the first forward
  std::int64_t peakBytes = 0;    // the highest from there to the last forward's end
  int forwards = 0;
  std::string whyNot;            // it could not be measured; empty: it was
  std::int64_t addedBytes() const { return peakBytes - beforeBytes; }
};

struct TimedInput {
  std::string name;
  std::string dtype;  // "float32"; empty: no tensor
  std::vector<std::int64_t> shape;  // of a batch
};

// Everything that the numbers hang on.
struct BenchmarkConditions {
  std::string work;          // "forward", or "training step: cross_entropy, SGD"
  std::string mode, autocast, policyTable;  // "native", "bfloat16", "cpu@1.13"
  std::vector<std::string> fp32, disable;
  bool castCache = true, trainMode = false;
  std::string interception;  // "off", and what was on in its place
  std::int64_t batchSize = 0;
  std::vector<TimedInput> inputs;
  int warmUpPairs = 0;
  int threads = 1;           // of each side
  int processors = 0;        // that the process might use
  std::string processor;     // its name
  std::vector<std::string> bfloat16Instructions;  // "avx512_bf16", ...; empty: it has none
  double loadBefore = 0, loadAfter = 0;  // of the whole machine in the last minute; NaN: not told
  std::string libtorch, blas, ulpscope;
};

struct Benchmark {
  int number = 0;         // in its session, 1-based; 0: not stored
  std::string createdUtc;
  std::string runId;      // whose policy was timed; empty: of a training
  int training = 0;       // likewise; 0: of a run
  BenchmarkConditions conditions;
  std::vector<TimedPair> pairs;  // in order
  PeakMemory reference, candidate;
  Verdict recheck;        // after the timing, in the timed configuration: a pass, or there would be no benchmark
  std::vector<std::string> warnings;
};

nlohmann::json toJson(const PeakMemory& memory);
nlohmann::json toJson(const BenchmarkConditions& conditions);
nlohmann::json toJson(const Benchmark& benchmark);
// Read back what toJson wrote and throw nlohmann::json::exception on anything else.
PeakMemory peakMemoryFromJson(const nlohmann::json& json);
Benchmark benchmarkFromJson(const nlohmann::json& json);

}  // namespace ulpscope::session
