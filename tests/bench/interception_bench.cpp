// What looking costs each run alone: the hook and the markers without an observer, then the statistics of every op.
//
// Ratios are to a bare FP32 forward and a bare BF16 forward under LibTorch's own CPU autocast, one after the other.
#include "core/analysis/sample_ranges.h"
#include "core/engine/values.h"
#include "tests/bench/bench_support.h"
#include "tests/bench/workload.h"

namespace {

using namespace ulpscope;
using namespace ulpscope::bench;
using engine::EventSink;
using engine::OpEvent;

constexpr int kPairs = 31;
constexpr int kSmallOps = 10'000;

// Range and non-finite counts of each output, per sample.
class Statistics {
 public:
  explicit Statistics(const Workload& workload) : m_workload(workload) {}

  EventSink sink() {
    return [this](OpEvent& event) { look(event); };
  }
  std::int64_t nonfinite() const { return m_nonfinite; }

 private:
  const Workload& m_workload;
  std::int64_t m_nonfinite = 0;

  void look(const OpEvent& event) {
    const engine::OwnCalls own;
    const engine::SiteAxes* axes = m_workload.axes.find(event.index);
    for (std::size_t i = 0; i < event.outputs.size(); ++i) {
      const engine::OpOutput& output = event.outputs[i];
      if (output.isView || !event.judged || !engine::isReadable(output.tensor)) continue;
      const engine::HeldView held = engine::viewOf(output.tensor);
      const session::SampleAxis axis = axes && i < axes->outputs.size() ? axes->outputs[i].axis() : session::SampleAxis{};
      const analysis::SampleLayout layout = analysis::layoutOf(held.view.shape, axis, m_workload.batch.size);
      for (const analysis::RangeSummary& sample : analysis::rangesOf(held.view, layout)) m_nonfinite += sample.nonfinite.total();
    }
  }
};

void measure(Workload& w) {
  const auto bare = [&] {
    w.runBareFp32();
    w.runBareBf16();
  };
  printRatios("interception", w.name, measurePairs(kPairs, bare, [&] {
    w.runReference();
    w.runCandidate();
  }), {1.03, 0});
  w.findAxes();
  Statistics statistics(w);
  printRatios("statistics", w.name, measurePairs(kPairs, bare, [&] {
    w.runReference(statistics.sink());
    w.runCandidate(statistics.sink());
  }), {1.10, 0});
}

// The hook's cost an op, by difference.
void measureSmallOps() {
  const auto w = subtractions(kSmallOps, 1, 4);
  std::vector<double> hook, events;
  w->runBareFp32();
  for (int i = -2; i < kPairs; ++i) {
    const double bare = costOf([&] { w->runBareFp32(); w->runBareBf16(); }).cpuSeconds;
    const double hooked = costOf([&] { w->runReference(); w->runCandidate(); }).cpuSeconds;
    const double observed = costOf([&] {
      w->runReference([](OpEvent&) {});
      w->runCandidate([](OpEvent&) {});
    }).cpuSeconds;
    if (i < 0) continue;  // warm-up
    hook.push_back(1e6 * (hooked - bare) / (2 * kSmallOps));
    events.push_back(1e6 * (observed - bare) / (2 * kSmallOps));
  }
  printValues("interception_per_op", w->name, "us", hook, 3);
  printValues("interception_and_events_per_op", w->name, "us", events, 0);
}

}  // namespace

int main() {
  keepFreedMemory();
  measureSmallOps();
  for (const char* name : {"resnet18", "encoder6"}) measure(*loadWorkload(ULPSCOPE_BENCH_WORKLOADS, name));
  return 0;
}
