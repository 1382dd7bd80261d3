// What comparing every op costs: reference and candidate in lock-step, all metrics of every op and sample, against a bare FP32
// forward and a bare BF16 forward under LibTorch's own CPU autocast, one after the other.
#include "tests/bench/bench_support.h"
#include "tests/bench/peak_memory.h"
#include "tests/bench/workload.h"

namespace {

using namespace ulpscope;
using namespace ulpscope::bench;

constexpr int kPairs = 31, kReplayPairs = 20, kMemoryRuns = 5;

engine::EmulatedExecutor::Options replayOptions() {
  static const engine::RegionSet none;
  return {&engine::cuda113(), at::kBFloat16, &none, true};
}

void measure(Workload& w) {
  const auto bare = [&] {
    w.runBareFp32();
    w.runBareBf16();
  };
  w.findAxes();
  printRatios("divergence", w.name, measurePairs(kPairs, bare, [&] { w.compare(); }), {1.15, 0.85});
  const engine::IntroducedError introduced(std::make_unique<engine::EmulatedExecutor>(replayOptions()), "cuda");
  printRatios("introduced_error_of_lockstep", w.name, measurePairs(kReplayPairs, [&] { w.compare(); }, [&] { w.compare(&introduced); }), {1.6, 0});
}

// Of the first batch of a run alone; the last workload has no other work to hide it behind.
void measureOperands(Workload& w) {
  printRatios("operands_of_lockstep", w.name, measurePairs(kPairs, [&] { w.compare(); }, [&] { w.compareAndTrace(); }), {1.02, 0});
}

// In a child: one warm-up, then the peak of one more above what lay there before.
int peakOnly(std::string_view what, const std::string& name) {
  const auto w = loadWorkload(ULPSCOPE_BENCH_WORKLOADS, name);
  const auto run = [&] {
    if (what == "lockstep") {
      w->compare();
    } else {
      w->runBareFp32();
      w->runBareBf16();
    }
  };
  if (what == "lockstep") w->findAxes();
  run();
  fmt::print("{}\n", peakAboveRest(run));
  return 0;
}

void measureMemory(const std::string& name) {
  std::vector<double> extra;
  for (int i = 0; i < kMemoryRuns; ++i)
    extra.push_back(megabytesOfChild("--peak lockstep " + name) - megabytesOfChild("--peak bare " + name));
  printValues("divergence_extra_peak", name, "MB", extra, 64);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--peak") return peakOnly(argv[2], argv[3]);
  const bool onlyOperands = argc == 2 && std::string_view(argv[1]) == "--operands";
  keepFreedMemory();  // not in the children above: their peaks are those of an ordinary process
  for (const char* name : {"resnet18", "encoder6"}) {
    const auto w = loadWorkload(ULPSCOPE_BENCH_WORKLOADS, name);
    if (onlyOperands) {
      w->findAxes();
      measureOperands(*w);
      continue;
    }
    measure(*w);
    measureOperands(*w);
    measureMemory(name);
  }
  measureOperands(*subtractions(1000, 8, 4));
  return 0;
}
