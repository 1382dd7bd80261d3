// Which rows each micro-batch takes: the same in every trajectory of a recipe. No Torch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ulpscope::train {

// SplitMix64 (Steele, Lea, Flood 2014): the next number of a sequence that starts at `state`.
std::uint64_t nextRandom(std::uint64_t& state);

// The next `batchSize` rows (all of them where there are fewer), wrapping round. Shuffled: epoch e goes through a permutation of its own,
// Fisher and Yates from the last row down, row i changing places with row r mod (i + 1), r from SplitMix64 started at seed + e * 2^32.
class BatchPlan {
 public:
  BatchPlan(std::int64_t samples, std::int64_t batchSize, std::optional<std::uint64_t> shuffleSeed);
  std::vector<std::int64_t> next();
  // As if next() had been called `batches` times since the start.
  void goTo(std::int64_t batches) { m_position = batches * m_batchSize; }

 private:
  std::int64_t m_samples, m_batchSize;
  std::optional<std::uint64_t> m_seed;
  std::int64_t m_position = 0, m_epoch = -1;
  std::vector<std::int64_t> m_order;

  void beginEpoch(std::int64_t epoch);
};

}  // namespace ulpscope::train
