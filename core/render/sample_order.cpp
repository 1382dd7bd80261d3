#include "core/render/sample_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace ulpscope::render {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

struct Run {
  std::size_t begin = 0, end = 0;  // digits without leading zeros
};
Run digitsAt(const std::string& text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && isDigit(text[at])) ++at;
  return {begin, at};
}

std::vector<std::int64_t> asGiven(std::int64_t samples) {
  std::vector<std::int64_t> columns(static_cast<std::size_t>(samples));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

template <typename Less>
std::vector<std::int64_t> sorted(std::int64_t samples, Less less) {
  std::vector<std::int64_t> columns = asGiven(samples);
  std::stable_sort(columns.begin(), columns.end(), less);
  return columns;
}

std::vector<std::int64_t> byMargin(const session::RunRecord& run, std::int64_t samples) {
  std::vector<std::int64_t> columns = asGiven(samples);
  const auto marginOf = [&](std::int64_t s) { return run.decisions[static_cast<std::size_t>(s)].referenceMargin; };
  // A sample without a decision has no margin (NaN): it goes last, and never into the comparison.
  const auto firstWithout = std::stable_partition(columns.begin(), columns.end(), [&](std::int64_t s) { return !std::isnan(marginOf(s)); });
  std::stable_sort(columns.begin(), firstWithout, [&](std::int64_t a, std::int64_t b) { return marginOf(a) < marginOf(b); });
  return columns;
}

// Largest first. Of a difference the signs do not count: the last bit is left out.
std::vector<std::int64_t> byCells(std::span<const PackedCell> cells) {
  return sorted(static_cast<std::int64_t>(cells.size()), [cells](std::int64_t a, std::int64_t b) {
    const auto rank = [cells](std::int64_t s) {
      const PackedCell cell = cells[static_cast<std::size_t>(s)];
      return cell >= kPackedFirstValue && cell < kPackedCured ? cell & ~1U : cell;
    };
    return rank(a) > rank(b);
  });
}

std::vector<std::int64_t> byWorst(const HeatmapData& data) {
  std::vector<PackedCell> worst;
  for (const Cell& cell : sampleMaxima(data)) worst.push_back(packed(cell));
  return byCells(worst);
}

SampleColumns byKind(const session::SampleSet& set, std::int64_t samples) {
  static const std::array<std::string, 3> order{"common", "edge", "boundary"};
  const auto rank = [&](std::int64_t s) { return std::find(order.begin(), order.end(), set.kinds[static_cast<std::size_t>(s)]) - order.begin(); };
  SampleColumns result{sorted(samples, [&](std::int64_t a, std::int64_t b) { return rank(a) < rank(b); }), {}};
  for (std::int64_t column = 0; column < samples; ++column) {
    const std::int64_t sample = result.columns[static_cast<std::size_t>(column)];
    const auto kind = static_cast<std::size_t>(rank(sample));
    const std::string& name = kind < order.size() ? order[kind] : set.kinds[static_cast<std::size_t>(sample)];
    if (result.groups.empty() || result.groups.back().name != name) result.groups.push_back({name, column, 0});
    ++result.groups.back().count;
  }
  return result;
}

}  // namespace

const std::vector<SampleOrder>& sampleOrders() {
  static const std::vector<SampleOrder> orders{SampleOrder::asGiven, SampleOrder::byId,       SampleOrder::byReferenceMargin,
                                               SampleOrder::byError, SampleOrder::byRowError, SampleOrder::byKind};
  return orders;
}

std::string label(SampleOrder order) {
  switch (order) {
    case SampleOrder::asGiven: return "as given";
    case SampleOrder::byId: return "id";
    case SampleOrder::byReferenceMargin: return "FP32 margin";
    case SampleOrder::byError: return "error, worst of all rows";
    case SampleOrder::byRowError: return "error in the selected row";
    case SampleOrder::byKind: return "kind";
  }
  return {};
}

std::string description(SampleOrder order) {
  switch (order) {
    case SampleOrder::asGiven: return "as given";
    case SampleOrder::byId: return "by id";
    case SampleOrder::byReferenceMargin: return "by FP32 margin, smallest first";
    case SampleOrder::byError: return "by the worst of all rows, largest first";
    case SampleOrder::byRowError: return "by the selected row, largest first";
    case SampleOrder::byKind: return "by kind";
  }
  return {};
}

std::string unavailable(SampleOrder order, const session::Session& session, const session::RunRecord& run) {
  if (order == SampleOrder::byReferenceMargin && run.decisions.empty()) return "needs a run with decisions (--decision argmax)";
  if (order == SampleOrder::byKind && session.samples.kinds.empty())
    return "the inputs file holds no sample_kinds (common, edge, boundary)";
  return {};
}

SampleColumns sampleColumns(const SampleSource& source, SampleOrder order) {
  const std::int64_t samples = source.data.samples();
  const auto enough = [samples](std::size_t count) { return static_cast<std::int64_t>(count) >= samples; };
  const session::SampleSet& set = source.session.samples;
  switch (order) {
    case SampleOrder::asGiven: break;
    case SampleOrder::byId:
      if (!enough(set.ids.size())) break;
      return {sorted(samples, [&](std::int64_t a, std::int64_t b) { return naturallyLess(set.ids[static_cast<std::size_t>(a)], set.ids[static_cast<std::size_t>(b)]); }), {}};
    case SampleOrder::byReferenceMargin:
      if (!enough(source.run.decisions.size())) break;
      return {byMargin(source.run, samples), {}};
    case SampleOrder::byError: return {byWorst(source.data), {}};
    case SampleOrder::byRowError:
      if (source.row < 0 || source.row >= source.data.rows()) break;
      return {byCells({source.data.row(source.row), static_cast<std::size_t>(samples)}), {}};
    case SampleOrder::byKind:
      if (!enough(set.kinds.size())) break;
      return byKind(set, samples);
  }
  return {asGiven(samples), {}};
}

bool naturallyLess(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (isDigit(a[i]) && isDigit(b[j])) {
      const Run x = digitsAt(a, i), y = digitsAt(b, j);
      if (x.end - x.begin != y.end - y.begin) return x.end - x.begin < y.end - y.begin;
      const int order = a.compare(x.begin, x.end - x.begin, b, y.begin, y.end - y.begin);
      if (order != 0) return order < 0;
      continue;
    }
    if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    ++i;
    ++j;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "01" and "1"
}

}  // namespace ulpscope::render
