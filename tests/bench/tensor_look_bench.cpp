// What the inspector waits for: one sample of a captured tensor of 26 MB in both runs, read from the file and worked out (ranges,
// histograms, worst elements, three maps). Bar: 100 ms of wall time. Also all 26 MB as one sample, from cold pages, and the same
// against reading the capture whole.
#include "core/analysis/exponent_histogram.h"
#include "core/analysis/worst_elements.h"
#include "core/base/float_formats.h"
#include "core/render/tensor_map.h"
#include "core/storage/run_writer.h"
#include "core/storage/site_look.h"
#include "tests/bench/bench_support.h"
#include "tests/support/scratch_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <random>

namespace {

using namespace ulpscope;

constexpr int kPairs = 31;
constexpr double kBarMs = 100;
const std::vector<std::int64_t> kBatch{32, 64, 56, 56};     // the first block of a ResNet, 32 images: 25.7 MB as float32
const std::vector<std::int64_t> kLarge{1, 64, 317, 317};    // as much in one sample

template <typename T>
T orExit(base::Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}

std::int64_t elementsOf(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

void capture(storage::RunWriter& writer, const std::vector<std::int64_t>& shape, std::int64_t samples) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> reference(static_cast<std::size_t>(elementsOf(shape)));
  std::vector<std::uint16_t> candidate(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) candidate[i] = base::halfFromFloat(reference[i] = normal(random));
  const std::size_t index = writer.addCapture({"layer1", true, samples});
  orExit(writer.capture({index, storage::RunSide::reference, base::DType::float32, shape, {}, reference.data(), 0, 0}));
  orExit(writer.capture({index, storage::RunSide::candidate, base::DType::float16, shape, {}, candidate.data(), 0, 0}));
}

session::Session makeSession(const std::string& master) {
  session::Session session = storage::newSession("bench");
  for (int i = 0; i < 32; ++i) session.samples.ids.push_back(std::to_string(i));
  auto writer = orExit(storage::RunWriter::begin(master, session, storage::WriteMode::create));
  session::RunRecord run;
  run.capture = session::Capture{};
  for (const auto& shape : {kBatch, kLarge}) {
    capture(writer, shape, 32);
    session::SiteSummary site;
    site.modulePath = "layer1." + std::to_string(run.sites.size());
    site.op = "aten::conv2d";
    site.sampleAxis = "0";
    site.shape = shape;
    site.candidateDtype = base::DType::float16;
    run.capture->sites.push_back({static_cast<std::int64_t>(run.sites.size()), 0});
    run.sites.push_back(site);
  }
  storage::RunMetrics metrics;
  for (const auto metric : {session::Metric::relL2, session::Metric::maxAbs}) metrics[metric] = {2, 32, std::vector<float>(64)};
  metrics.flags.assign(64, 0);
  return orExit(writer.finish(run, metrics, {}));
}

// As the window does it; gives a number that depends on all of it.
enum class Axes { last, transposed };
double lookOnce(const session::Session& session, const storage::LookRequest& request, Axes axes = Axes::last) {
  const storage::SiteLook look = orExit(storage::lookAt(session, request));
  const storage::TensorPart &a = look.reference.value, &b = look.candidate.value;
  const analysis::ReferenceView reference(analysis::TensorView{a.bytes.data(), a.dtype, a.shape});
  const analysis::CandidateView candidate(analysis::TensorView{b.bytes.data(), b.dtype, b.shape});
  double sum = analysis::rangeOf(reference.value).range.max + analysis::rangeOf(candidate.value).range.max;
  sum += static_cast<double>(analysis::exponentHistogram(reference.value).zeros + analysis::exponentHistogram(candidate.value).zeros);
  for (const auto by : {analysis::WorstBy::difference, analysis::WorstBy::ulp}) sum += analysis::worstElements(reference, candidate, {by}).maxDifference;
  render::SliceChoice choice = render::defaultSlice(a.shape);
  if (axes == Axes::transposed) choice = render::withAxes(choice, a.shape, choice.columnAxis, choice.rowAxis);
  const render::TensorSlice slice(a.shape, choice);
  return sum + static_cast<double>(render::tensorMaps(slice, reference, candidate).block);
}

// The pages of a synced file, out of the system's cache.
void forget(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ::fsync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

std::vector<double> wallMs(int repetitions, const std::function<void()>& before, const std::function<void()>& body) {
  std::vector<double> values;
  for (int i = 0; i < repetitions; ++i) {
    before();
    values.push_back(1e3 * bench::costOf(body).wallSeconds);
  }
  return values;
}

int measure(const std::string& folder) {
  const std::string master = folder + "/bench.ulps";
  const session::Session session = makeSession(master);
  const storage::LookRequest sample{master, "run_0001", 0, 17}, large{master, "run_0001", 1, 0};
  double sum = 0;
  const auto readWhole = [&] {
    for (const auto side : {storage::RunSide::reference, storage::RunSide::candidate}) sum += static_cast<double>(orExit(storage::readCapture(master, session, "run_0001", 0, side)).size());
  };
  const auto nothing = [] {};
  const auto drop = [&] { forget(master + ".d/run-0001.tensors.h5"); };
  bench::printValues("tensor_look", "1 sample of 26 MB", "ms", wallMs(kPairs, nothing, [&] { sum += lookOnce(session, sample); }), kBarMs);
  bench::printValues("tensor_look", "1 sample of 26 MB, rows and columns changed", "ms", wallMs(kPairs, nothing, [&] { sum += lookOnce(session, sample, Axes::transposed); }), kBarMs);
  bench::printValues("tensor_look", "1 sample of 26 MB, cold pages", "ms", wallMs(kPairs, drop, [&] { sum += lookOnce(session, sample); }), kBarMs);
  bench::printValues("tensor_look", "26 MB in one sample", "ms", wallMs(kPairs, nothing, [&] { sum += lookOnce(session, large); }), kBarMs);
  bench::printRatios("tensor_look_over_reading_whole", "1 sample of 26 MB", bench::measurePairs(kPairs, readWhole, [&] { sum += lookOnce(session, sample); }), {1, 1});
  return std::isnan(sum) ? 1 : 0;
}

}  // namespace

int main() {
  const tests::ScratchFolder folder;
  return measure(folder.path());
}
