// What a scan of the digits demo costs: the whole command on 1,000 points between two samples that flip, both precisions, the noise floor, every
// crossing to its last step, a process each time. As a part of the bar of 3 s, and of the same without the noise floor; `doctor` in turns says how
// much of it is starting the engine, which the machine's other load slows as well.
#include "bench_support.h"
#include "tests/support/scratch_folder.h"

#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace ulpscope;

constexpr int kRepetitions = 11;
constexpr double kBarSeconds = 3;

void command(const std::string& folder, const std::string& words) {
  const std::string line = "cd '" + folder + "' && '" ULPSCOPE_BENCH_CLI "' " + words + " > /dev/null 2>&1";
  if (std::system(line.c_str()) != 0) std::fprintf(stderr, "failed: %s\n", line.c_str()), std::exit(1);
}

// Of children that were waited for.
double childrenCpu() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Costs {
  std::vector<double> wall, cpu;
  void measure(const std::string& folder, const std::string& words) {
    const double before = childrenCpu();
    wall.push_back(bench::costOf([&] { command(folder, words); }).wallSeconds);
    cpu.push_back(childrenCpu() - before);
  }
};

void print(const char* name, const Costs& costs) {
  std::vector<double> ofBar;
  for (const double seconds : costs.wall) ofBar.push_back(seconds / kBarSeconds);
  fmt::print("RESULT {{\"bench\": \"scan\", \"what\": \"{}\", \"wall_s\": {}, \"cpu_s\": {}, \"wall_of_bar\": {}, \"bar_s\": {}}}\n", name, bench::json(bench::spreadOf(costs.wall)),
             bench::json(bench::spreadOf(costs.cpu)), bench::json(bench::spreadOf(ofBar)), kBarSeconds);
}

}  // namespace

int main() {
  const tests::ScratchFolder folder;
  command(folder.path(), "demo digits --out .");
  const std::string scan = "scan digits.ulps --from digit-1066 --to digit-1274 --steps 1000 --no-save --json scan.json";
  Costs whole, bare, start;
  for (int i = 0; i < kRepetitions; ++i) {
    whole.measure(folder.path(), scan);
    bare.measure(folder.path(), scan + " --no-noise-floor");
    start.measure(folder.path(), "doctor");
  }
  print("with the noise floor", whole);
  print("without", bare);
  print("starting the engine (doctor)", start);
  return 0;
}
