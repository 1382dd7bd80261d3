// How the cost grows with the number of ops, of samples, and with the size of tensors: subtractions in a row, alone under the hook, with
// events, and in lock-step with all metrics. One RESULT line a point; plot_growth.py draws them.
#include "tests/bench/bench_support.h"
#include "tests/bench/workload.h"

namespace {

using namespace ulpscope;
using namespace ulpscope::bench;

constexpr int kRepetitions = 15;

struct Point {
  std::vector<double> bare, hook, events, lockstep;  // CPU us an op and run (lock-step: both runs together, halved)
  std::vector<double> lockstepWall;                  // us an op
};

void print(const std::string& axis, std::int64_t at, int ops, const Point& p) {
  fmt::print("RESULT {{\"name\": \"growth\", \"axis\": \"{}\", \"at\": {}, \"ops\": {}, \"unit\": \"us an op and run\", \"bare\": {}, \"hook\": {}, "
             "\"events\": {}, \"lockstep\": {}, \"lockstep_wall\": {}}}\n",
             axis, at, ops, json(spreadOf(p.bare)), json(spreadOf(p.hook)), json(spreadOf(p.events)), json(spreadOf(p.lockstep)), json(spreadOf(p.lockstepWall)));
  std::fflush(stdout);
}

void measure(const std::string& axis, std::int64_t at, int ops, std::int64_t samples, std::int64_t width) {
  const auto w = subtractions(ops, samples, width);
  if (samples > 1) w->findAxes();
  Point p;
  const double perOp = 1e6 / (2.0 * ops);
  const auto nobody = [](engine::OpEvent&) {};
  for (int i = -1; i < kRepetitions; ++i) {
    const Cost bare = costOf([&] { w->runBareFp32(); w->runBareBf16(); });
    const Cost hook = costOf([&] { w->runReference(); w->runCandidate(); });
    const Cost events = costOf([&] { w->runReference(nobody); w->runCandidate(nobody); });
    const Cost lockstep = costOf([&] { w->compare(); });
    if (i < 0) continue;  // warm-up
    p.bare.push_back(perOp * bare.cpuSeconds);
    p.hook.push_back(perOp * hook.cpuSeconds);
    p.events.push_back(perOp * events.cpuSeconds);
    p.lockstep.push_back(perOp * lockstep.cpuSeconds);
    p.lockstepWall.push_back(2 * perOp * lockstep.wallSeconds);
  }
  print(axis, at, ops, p);
}

}  // namespace

int main() {
  keepFreedMemory();
  for (const int ops : {10, 100, 1000, 10000}) measure("ops", ops, ops, 1, 4);
  for (const std::int64_t samples : {1, 8, 64, 512, 4096}) measure("samples", samples, 100, samples, 65536 / samples);
  for (const std::int64_t elements : {16, 256, 4096, 65536, 1048576}) measure("elements", elements, 20, 1, elements);
  return 0;
}
