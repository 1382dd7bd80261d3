#include "core/storage/benchmark_store.h"

#include "core/storage/session_change.h"

namespace ulpscope::storage {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::Session;

Result<Session> addBenchmark(const std::string& masterPath, const std::string& sessionId, session::Benchmark benchmark) {
  constexpr auto kPatience = std::chrono::minutes(2);
  return changed(masterPath, kPatience, [&](Session& session) -> Result<Change> {
    if (session.id != sessionId) return Error{ErrorKind::input, "is another session than the one whose run was timed", masterPath, "time its own run"};
    if (!benchmark.runId.empty() && !session.run(benchmark.runId)) return Error{ErrorKind::input, "was deleted while it was timed", masterPath + ", " + benchmark.runId, "bring it back, and time it again"};
    benchmark.number = session.benchmarks.empty() ? 1 : session.benchmarks.back().number + 1;
    session.benchmarks.push_back(std::move(benchmark));
    return Change::made;
  });
}

}  // namespace ulpscope::storage
