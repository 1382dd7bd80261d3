#include "core/engine/live_cells.h"

#include "core/engine/comparison.h"

#include <numeric>

namespace ulpscope::engine {
namespace {

constexpr std::int64_t kMostCells = std::int64_t{2} << 20;  // a part of a block; some 14 MB as text

}  // namespace

void LiveCells::begin(const model::ModelInfo& model, const std::vector<std::string>& allSampleIds) {
  if (m_hooks.experiment) m_hooks.experiment({model, allSampleIds});
}

void LiveCells::after(const Comparison& comparison, std::int64_t done) {
  if (m_hooks.cells && std::chrono::steady_clock::now() >= m_next) flush(comparison, done);
}

void LiveCells::flush(const Comparison& comparison, std::int64_t done) {
  if (!m_hooks.cells || done <= 0) return;
  std::vector<protocol::LiveSite> sites = comparison.liveSites();
  const bool isOther = sites.size() != m_sites;  // sites are only ever added
  if (isOther) m_told = 0;
  if (m_told == done) return;
  protocol::CellBlock block = comparison.liveCells(m_told, done);
  if (isOther) block.sites = std::move(sites);
  m_sites = block.sites ? block.sites->size() : m_sites;
  if (!m_numbers.empty())
    for (std::int64_t& sample : block.samples) sample = m_numbers[static_cast<std::size_t>(sample)];
  for (const protocol::CellBlock& part : protocol::splitRows(block, kMostCells)) m_hooks.cells(part);
  m_told = done;
  m_next = std::chrono::steady_clock::now() + kCellInterval;
}

// Of samples [first, end), in the order of liveSites().
protocol::CellBlock Comparison::liveCells(std::int64_t first, std::int64_t end) const {
  protocol::CellBlock block;
  block.samples.resize(static_cast<std::size_t>(end - first));
  std::iota(block.samples.begin(), block.samples.end(), first);
  for (const auto& [key, site] : m_sites) {
    const std::vector<float>& cells = site.cells[static_cast<std::size_t>(session::Metric::relL2)];
    if (cells.empty())
      block.relL2.insert(block.relL2.end(), block.samples.size(), std::numeric_limits<float>::quiet_NaN());
    else
      block.relL2.insert(block.relL2.end(), cells.begin() + first, cells.begin() + end);
    block.flags.insert(block.flags.end(), site.flags.begin() + first, site.flags.begin() + end);
  }
  return block;
}

std::vector<protocol::LiveSite> Comparison::liveSites() const {
  std::vector<protocol::LiveSite> sites;
  for (const auto& [key, site] : m_sites) sites.push_back({site.summary.modulePath, site.summary.op, site.summary.occurrence});
  return sites;
}

}  // namespace ulpscope::engine
