#include "core/train/batch_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ulpscope::train {

std::uint64_t nextRandom(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

BatchPlan::BatchPlan(std::int64_t samples, std::int64_t batchSize, std::optional<std::uint64_t> shuffleSeed)
    : m_samples(samples), m_batchSize(std::min(samples, batchSize)), m_seed(shuffleSeed), m_order(static_cast<std::size_t>(samples)) {}

void BatchPlan::beginEpoch(std::int64_t epoch) {
  m_epoch = epoch;
  std::iota(m_order.begin(), m_order.end(), 0);
  if (!m_seed) return;
  std::uint64_t state = *m_seed + (static_cast<std::uint64_t>(epoch) << 32);
  for (std::size_t i = m_order.size(); i-- > 1;) std::swap(m_order[i], m_order[nextRandom(state) % (i + 1)]);
}

std::vector<std::int64_t> BatchPlan::next() {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < m_batchSize; ++i, ++m_position) {
    if (m_position / m_samples != m_epoch) beginEpoch(m_position / m_samples);
    rows.push_back(m_order[static_cast<std::size_t>(m_position % m_samples)]);
  }
  return rows;
}

}  // namespace ulpscope::train
