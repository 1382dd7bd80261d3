// A benchmark in words and as JSON. No number stands without what it hangs on.
#pragma once

#include "core/session/session.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ulpscope::report {

// "BF16 autocast is faster here: FP32 takes 1.83 times as long (95.9 % interval 1.79 to 1.88, median of 20 pairs, 2 threads, batches of 32)".
std::string benchmarkHeadline(const session::Benchmark& benchmark);

struct BenchmarkRow {
  std::string name, text;
};
// Times and memory of both sides, then everything they hang on.
std::vector<BenchmarkRow> benchmarkRows(const session::Benchmark& benchmark);
// The headline, the warnings and the rows.
std::string benchmarkText(const session::Benchmark& benchmark);

// The document of `ulpscope bench --json` (resources/schema/bench.schema.json).
nlohmann::json benchmarkDocument(const session::Benchmark& benchmark, const std::string& sessionPath);
// Of one that was refused ("refused") or whose numbers did not pass again ("withheld"): no number at all. verdict: the one it hangs on, if any.
nlohmann::json noBenchmarkDocument(const std::string& status, const std::string& reason, const std::optional<session::Verdict>& verdict, const std::string& sessionPath);
nlohmann::json benchmarkErrorDocument(const base::Error& error);

}  // namespace ulpscope::report
