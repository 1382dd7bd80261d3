// Tells a live view what the batches measured so far. Private to core/engine.
#pragma once

#include "core/engine/engine.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace ulpscope::engine {

class Comparison;
struct Batch;

inline constexpr std::chrono::milliseconds kCellInterval{250};

class LiveCells {
 public:
  // numbers: of the run's samples among all of the inputs file; empty: they are all of them. An empty sink: nothing is told.
  LiveCells(const RunHooks& hooks, std::vector<std::int64_t> numbers) : m_hooks(hooks), m_numbers(std::move(numbers)) {}

  void begin(const model::ModelInfo& model, const std::vector<std::string>& allSampleIds);
  // Samples [0, done) of the run are measured. Tells at most each kCellInterval, the rest with flush().
  void after(const Comparison& comparison, std::int64_t done);
  void flush(const Comparison& comparison, std::int64_t done);

 private:
  const RunHooks& m_hooks;
  std::vector<std::int64_t> m_numbers;
  std::chrono::steady_clock::time_point m_next;
  std::int64_t m_told = 0;       // samples
  std::size_t m_sites = 0;
};

}  // namespace ulpscope::engine
