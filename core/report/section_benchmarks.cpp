// The session's benchmarks, each with all that its numbers hang on.
#include "core/report/benchmark_text.h"
#include "core/report/sections.h"

#include <algorithm>

namespace ulpscope::report {
namespace {

constexpr std::size_t kMostBenchmarks = 3;  // the latest

Table benchmarkTable(const Teller& t, const session::Benchmark& benchmark) {
  Table table{t.say("benchmarks.name", {t.book.count(benchmark.number), timeText(benchmark.createdUtc)}), {{t.say("benchmarks.what")}, {t.say("benchmarks.value")}}, {}, ""};
  for (const BenchmarkRow& row : benchmarkRows(benchmark)) table.rows.push_back({{t.book.stored("benchmark", row.name)}, {row.text}});
  for (const std::string& warning : benchmark.warnings) table.rows.push_back({{t.say("benchmarks.note")}, {warning, Tone::warn}});
  return table;
}

}  // namespace

Section benchmarksSection(const Teller& t) {
  Section section{"benchmarks", t.say("benchmarks.title"), {}};
  const auto& all = t.content.session.benchmarks;
  if (all.empty()) return section;
  if (all.size() > kMostBenchmarks) section.blocks.emplace_back(Paragraph{t.say("benchmarks.more", {t.book.count(static_cast<std::int64_t>(kMostBenchmarks)), t.book.count(static_cast<std::int64_t>(all.size()))})});
  for (std::size_t i = all.size() - std::min(all.size(), kMostBenchmarks); i < all.size(); ++i) {
    section.blocks.emplace_back(Paragraph{strong(benchmarkHeadline(all[i]))});
    section.blocks.emplace_back(benchmarkTable(t, all[i]));
  }
  return section;
}

}  // namespace ulpscope::report
