// What `check` of a large session costs, and how fast `compare` goes through what two runs stored.
//
// check: the whole command on 10,000 op sites x 1,000 samples, a process each time. compare: compareCaptures() on two runs of 256 MB each in
// float16, from the page cache; bytes of both over CPU time, and over the time that reading alone takes (one pass of read() over the same files).
#include "bench_support.h"
#include "core/base/hashing.h"
#include "core/session/criteria.h"
#include "core/storage/captured_comparison.h"
#include "core/storage/run_writer.h"
#include "tests/support/scratch_folder.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace ulpscope;

constexpr int kSites = 10'000, kSamples = 1'000, kRepetitions = 21;
constexpr std::int64_t kRows = 64, kRowElements = 1 << 20, kBlocks = 2;  // 64 Mi elements each, 128 MiB

session::Session lockedSession() {
  session::Session session = storage::newSession("bench");
  for (int i = 0; i < kSamples; ++i) session.samples.ids.push_back(std::to_string(i));
  const auto criteria = session::criteriaFromJson({{"schema", 1}, {"decisions", {{"max_flips", 5}}}, {"sites", {{{"rel_l2", 1}}}}, {"nonfinite", {{"max_samples", 0}}}}).value();
  session.criteria = {{1, "2026-01-01T00:00:00Z", criteria.sha256, criteria.canonical, false, ""}};
  return session;
}

base::Status makeLarge(const std::string& master) {
  session::RunRecord run;
  storage::RunMetrics metrics;
  run.settings.decision = session::parseDecisionRule("argmax").value();
  run.decisions.assign(kSamples, {1, 1, 0.1});
  for (int i = 0; i < kSites; ++i) {
    session::SiteSummary site;
    site.modulePath = fmt::format("encoder.layers.{}.self_attn.out_proj", i / 20);
    site.op = "aten::linear";
    site.occurrence = i % 20 + 1;
    site.shape = {32, 128, 512};
    site.values[session::Metric::relL2] = 1e-4;
    site.worstSample = i % kSamples;
    run.sites.push_back(site);
  }
  const std::vector<float> cells(std::size_t{kSites} * kSamples, 1e-3F);
  metrics[session::Metric::relL2] = {kSites, kSamples, cells};
  metrics[session::Metric::maxAbs] = {kSites, kSamples, cells};
  metrics.flags.assign(cells.size(), 0);
  const auto written = storage::addRun(master, lockedSession(), run, metrics, {}, storage::WriteMode::create);
  return written ? base::success() : base::Status(written.error());
}

// Captured blocks of one run: `shift` makes every 64th element another in the second one.
base::Result<session::Session> makeCaptured(const std::string& master, std::uint16_t shift) {
  session::Session session = storage::newSession("bench");
  for (std::int64_t i = 0; i < kRows; ++i) session.samples.ids.push_back(std::to_string(i));
  auto writer = storage::RunWriter::begin(master, session, storage::WriteMode::create);
  if (!writer) return writer.error();
  session::RunRecord run;
  storage::RunMetrics metrics;
  run.capture.emplace();
  std::vector<std::uint16_t> values(static_cast<std::size_t>(kRows * kRowElements));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(0x3C00 + i % 977 + (i % 64 == 0 ? shift : 0));
  for (std::int64_t block = 0; block < kBlocks; ++block) {
    session::SiteSummary site;
    site.modulePath = fmt::format("block.{}", block);
    site.op = "aten::linear";
    site.shape = {kRows, kRowElements};
    site.referenceDtype = site.candidateDtype = base::DType::float16;
    run.sites.push_back(site);
    run.capture->sites.push_back({block, 0});
    const std::size_t number = writer.value().addCapture({siteLabel(site), true, kRows});
    if (auto taken = writer.value().capture({number, storage::RunSide::candidate, base::DType::float16, {kRows, kRowElements}, {}, values.data(), 0, 0}); !taken) return taken.error();
  }
  const auto sites = static_cast<std::int64_t>(run.sites.size());
  metrics[session::Metric::relL2] = {sites, kRows, std::vector<float>(static_cast<std::size_t>(sites * kRows))};
  metrics[session::Metric::maxAbs] = metrics[session::Metric::relL2];
  metrics.flags.assign(static_cast<std::size_t>(sites * kRows), 0);
  return writer.value().finish(std::move(run), metrics, {});
}

std::size_t readThrough(const std::string& path) {
  std::vector<char> buffer(1 << 20);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::size_t total = 0;
  for (ssize_t n = 0; (n = ::read(fd, buffer.data(), buffer.size())) > 0;) total += static_cast<std::size_t>(n);
  ::close(fd);
  return total;
}

void benchCheck(const std::string& folder) {
  const std::string master = folder + "/large.ulps";
  if (const auto made = makeLarge(master); !made) std::fprintf(stderr, "%s\n", made.error().message().c_str()), std::exit(1);
  std::vector<double> wall;
  for (int i = 0; i < kRepetitions; ++i)
    wall.push_back(1e3 * bench::costOf([&] { std::system((std::string("'") + ULPSCOPE_BENCH_CLI + "' check '" + master + "' > /dev/null").c_str()); }).wallSeconds);
  fmt::print("RESULT {{\"bench\": \"check\", \"sites\": {}, \"samples\": {}, \"wall_ms\": {}, \"bar\": 300}}\n", kSites, kSamples, bench::json(bench::spreadOf(wall)));
}

void benchCompare(const std::string& folder) {
  const auto a = makeCaptured(folder + "/a.ulps", 0), b = makeCaptured(folder + "/b.ulps", 3);
  if (!a || !b) std::fprintf(stderr, "%s\n", (a ? b : a).error().message().c_str()), std::exit(1);
  const storage::StoredRun runA{folder + "/a.ulps", a.value(), a->runs[0]}, runB{folder + "/b.ulps", b.value(), b->runs[0]};
  const double bytes = 2.0 * kBlocks * kRows * kRowElements * sizeof(std::uint16_t);
  std::vector<double> speed, share;
  for (int i = 0; i < kRepetitions; ++i) {
    const bench::Cost reading = bench::costOf([&] { readThrough(folder + "/a.ulps.d/run-0001.tensors.h5"), readThrough(folder + "/b.ulps.d/run-0001.tensors.h5"); });
    const bench::Cost comparing = bench::costOf([&] {
      if (const auto compared = storage::compareCaptures(runA, runB); !compared || compared->size() != kBlocks || compared.value()[0].identical) std::exit(1);
    });
    speed.push_back(bytes / comparing.cpuSeconds / 1e9);
    share.push_back(reading.cpuSeconds / comparing.cpuSeconds);
  }
  fmt::print("RESULT {{\"bench\": \"compare\", \"bytes\": {:.0f}, \"gb_per_cpu_second\": {}, \"bar\": 3, \"of_reading_alone\": {}}}\n", bytes, bench::json(bench::spreadOf(speed)),
             bench::json(bench::spreadOf(share)));
}

}  // namespace

int main() {
  const tests::ScratchFolder folder;
  benchCheck(folder.path());
  benchCompare(folder.path());
  return 0;
}
