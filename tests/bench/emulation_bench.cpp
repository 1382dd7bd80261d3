// What emulated autocast costs: a candidate's forward, nobody looking, against a bare FP32 forward of the same process; and the speed of
// rounding to half against reading and writing the same bytes.
#include "tests/bench/bench_support.h"
#include "tests/bench/workload.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstring>

namespace {

using namespace ulpscope;
using namespace ulpscope::bench;

constexpr int kPairs = 21;

void measureForward(Workload& w, at::ScalarType low, const std::string& name) {
  const auto emulated = [&] { w.runEmulated(low); };
  printRatios(name, w.name, measurePairs(kPairs, [&] { w.runBareFp32(); }, emulated), {1.25, 0});
}

// Bytes read and written in either case: 4 + 2 an element.
void measureRounding() {
  const std::int64_t elements = 16 << 20;
  const at::Tensor from = at::randn({elements});
  at::Tensor to = at::empty({elements}, at::kHalf);
  std::vector<std::byte> source(static_cast<std::size_t>(elements) * 3), target(source.size());
  const auto copy = [&] { std::memcpy(target.data(), source.data(), source.size()); };  // 3 bytes read, 3 written
  const auto round = [&] { to.copy_(from); };
  const Ratios ratios = measurePairs(kPairs, copy, round);
  std::vector<double> speed;
  for (const double ratio : ratios.cpu) speed.push_back(1 / ratio);
  const Spread spread = spreadOf(speed);
  fmt::print("RESULT {{\"name\": \"rounding_of_copy_bandwidth\", \"value\": {}, \"bar\": 0.5, \"holds\": {}}}\n", json(spread), spread.high >= 0.5);
}

}  // namespace

int main() {
  keepFreedMemory();
  at::set_num_threads(1);
  measureRounding();
  for (const char* name : {"resnet18", "encoder6"}) {
    const auto w = loadWorkload(ULPSCOPE_BENCH_WORKLOADS, name);
    measureForward(*w, at::kHalf, "emulated_fp16");
    measureForward(*w, at::kBFloat16, "emulated_bf16");
  }
  return 0;
}
