// What comparing two tensors costs beside reading them once: every metric of compareTensors, ULP distance included, against a
// vectorised sum over the same bytes.
//
// Reading and comparing take turns; a ratio is read time / kernel time of neighbours, so that a machine that slows down slows
// both. One RESULT line a figure: median and 95 % interval (order statistics) of the ratio in CPU time; 1 = as fast as reading.
#include "core/analysis/divergence_walk.h"
#include "core/base/float_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace ulpscope;
using analysis::InstructionSet;
using base::DType;

constexpr std::int64_t kElements = std::int64_t{16} << 20;  // 64 MB of float32: beyond the caches
constexpr std::int64_t kCached = 1 << 15;                   // both tensors within the second-level cache
constexpr int kRepetitions = 31;
constexpr double kBar = 0.80;

double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ULPSCOPE_EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ULPSCOPE_EVERY_WIDTH
#endif

// One load and one addition a word: what any pass over the bytes has to do.
ULPSCOPE_EVERY_WIDTH std::uint64_t readOnce(const std::uint64_t* words, std::int64_t count) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += words[i];
  return sum;
}

struct Tensor {
  std::vector<std::uint64_t> memory;
  analysis::TensorView view;

  std::uint64_t read() const { return readOnce(memory.data(), static_cast<std::int64_t>(memory.size())); }
};

void put(void* data, DType dtype, std::int64_t i, float x) {
  if (dtype == DType::float32)
    static_cast<float*>(data)[i] = x;
  else
    static_cast<std::uint16_t*>(data)[i] = dtype == DType::float16 ? base::halfFromFloat(x) : base::bfloat16FromFloat(x);
}

// Normal numbers; a candidate is off by 1e-3 of each. The block repeats: rounding into float16 is slow, the kernel does not care.
Tensor makeTensor(DType dtype, const std::vector<std::int64_t>& shape, bool candidate) {
  Tensor t;
  t.view = {nullptr, dtype, shape, {}};
  const std::int64_t count = t.view.elementCount();
  const std::size_t size = base::sizeBytes(dtype);
  t.memory.resize(static_cast<std::size_t>(count) * size / 8);
  t.view.data = t.memory.data();
  std::mt19937 values(1), errors(2);
  std::normal_distribution<float> normal, error(1, 1e-3F);
  const std::int64_t block = std::min<std::int64_t>(count, 1 << 20);
  for (std::int64_t i = 0; i < block; ++i) put(t.memory.data(), dtype, i, normal(values) * (candidate ? error(errors) : 1));
  const std::size_t blockWords = static_cast<std::size_t>(block) * size / 8;
  for (std::size_t at = blockWords; at < t.memory.size(); at += blockWords)
    std::copy_n(t.memory.begin(), std::min(blockWords, t.memory.size() - at), t.memory.begin() + static_cast<std::ptrdiff_t>(at));
  return t;
}

struct Spread {
  double median, low, high;
};

// Order statistics: the true median lies between them in 95 of 100 experiments.
Spread spreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - 0.98 * std::sqrt(n))));
  return {values[values.size() / 2], values[low], values[values.size() - 1 - low]};
}

struct Case {
  std::string name;
  DType candidate;
  std::vector<std::int64_t> shape;
  session::SampleAxis axis;
  std::int64_t samples;
  int passes;
};

void measure(const Case& c, InstructionSet set) {
  const Tensor a = makeTensor(DType::float32, c.shape, false), b = makeTensor(c.candidate, c.shape, true);
  const analysis::SampleLayout layout = analysis::layoutOf(c.shape, c.axis, c.samples);
  const DType low = c.candidate == DType::bfloat16 ? DType::bfloat16 : DType::float16;
  const analysis::CompareOptions options{low, session::siteTolerance(low), true};
  std::uint64_t kept = 0;
  std::vector<double> ratios, readRates, kernelRates;
  const double gigabytes = 8e-9 * static_cast<double>(a.memory.size() + b.memory.size()) * c.passes;
  for (int i = -1; i < kRepetitions; ++i) {
    const double start = cpuSeconds();
    for (int pass = 0; pass < c.passes; ++pass) kept += a.read() + b.read();
    const double between = cpuSeconds();
    for (int pass = 0; pass < c.passes; ++pass)
      kept += static_cast<std::uint64_t>(analysis::compareTensorsWith(set, base::Reference(a.view), base::Candidate(b.view), layout, options).front().overTolerance);
    const double end = cpuSeconds();
    if (i < 0) continue;  // warm-up
    ratios.push_back((between - start) / (end - between));
    readRates.push_back(gigabytes / (between - start));
    kernelRates.push_back(gigabytes / (end - between));
  }
  const Spread ratio = spreadOf(ratios);
  static const char* const kSets[] = {"portable", "avx2", "avx512"};
  fmt::print("RESULT {{\"bench\": \"metric_kernel\", \"case\": \"{}\", \"instructions\": \"{}\", \"ratio_to_read\": {:.3f}, \"low\": {:.3f}, \"high\": {:.3f}, "
             "\"bar\": {:.2f}, \"repetitions\": {}, \"read_gb_s\": {:.1f}, \"kernel_gb_s\": {:.1f}, \"checksum\": {}}}\n",
             c.name, kSets[static_cast<int>(set)], ratio.median, ratio.low, ratio.high, kBar, kRepetitions, spreadOf(readRates).median,
             spreadOf(kernelRates).median, kept % 1000);
  std::fflush(stdout);
}

}  // namespace

int main() {
  using Kind = session::SampleAxis::Kind;
  for (const DType candidate : {DType::float32, DType::float16, DType::bfloat16}) {
    const std::string pair = "float32-" + base::name(candidate);
    const InstructionSet best = analysis::bestInstructionSet();
    measure({pair + " contiguous", candidate, {8, kElements / 8}, {Kind::plain, 0}, 8, 1}, best);
    measure({pair + " inner 64", candidate, {kElements / 512, 8, 64}, {Kind::plain, 1}, 8, 1}, best);
    measure({pair + " inner 1", candidate, {kElements / 8, 8}, {Kind::plain, 1}, 8, 1}, best);
    measure({pair + " in cache", candidate, {kCached}, {}, 1, 256}, best);
    for (const InstructionSet set : {InstructionSet::avx2, InstructionSet::portable})
      if (set != best && analysis::isSupported(set)) measure({pair + " contiguous", candidate, {8, kElements / 8}, {Kind::plain, 0}, 8, 1}, set);
  }
  return 0;
}
