// A benchmark as a machine might have measured it, for tests that need one and no machine.
#pragma once

#include "core/session/benchmark.h"

#include <string>

namespace ulpscope::tests {

// Twenty pairs of 12 ms in FP32 against 12 / ratio ms, the batch and the order alternating.
inline session::Benchmark sampleBenchmark(double ratio = 2) {
  session::Benchmark b;
  b.createdUtc = "2026-02-03T04:05:06Z";
  b.runId = "run_0001";
  session::BenchmarkConditions& c = b.conditions;
  c.work = "forward";
  c.mode = "native";
  c.autocast = "bfloat16";
  c.policyTable = "cpu@1.13";
  c.fp32 = {"head"};
  c.interception = "off";
  c.batchSize = 8;
  c.inputs = {{"x", "float32", {8, 3, 32, 32}}, {"steps", "", {}}};
  c.warmUpPairs = 5;
  c.threads = 2;
  c.processors = 4;
  c.processor = "A processor";
  c.bfloat16Instructions = {"avx512_bf16"};
  c.loadBefore = 0.125;
  c.loadAfter = 1.5;
  c.libtorch = "1.13.0";
  c.blas = "a BLAS";
  c.ulpscope = "9.9";
  for (int i = 0; i < 20; ++i) b.pairs.push_back({i % 3, i % 2 == 1, 0.012, 0.012 / ratio, 0.024, 0.024 / ratio});
  b.reference = {100LL << 20, 180LL << 20, 3, ""};
  b.candidate = {100LL << 20, 150LL << 20, 3, ""};
  b.recheck.status = session::JudgedAs::pass;
  b.recheck.revision = 1;
  b.recheck.sha256 = "0123456789abcdef";
  return b;
}

}  // namespace ulpscope::tests
