// What capturing costs: the same bytes through RunWriter::capture() and through plain write() calls, in turns within one process.
//
// Each turn is on new files of the same folder (argument; default: the folder for temporary files); a second argument chooses a
// workload. CPU is of the whole process, so
// the writer's thread counts. Closed: the run is over but for finish()'s sync, which `synced` adds. The median of the turns' ratios.
#include "core/storage/run_writer.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace ulpscope;
namespace fs = std::filesystem;
using storage::RunSide;

constexpr int kTurns = 7;

struct Workload {
  const char* name;
  std::int64_t sites, batches, rows, rowElements;  // float32 and float16 blocks of rows x rowElements
};
constexpr Workload kWorkloads[] = {{"large_blocks", 8, 2, 8, 1'000'000}, {"small_blocks", 1000, 4, 8, 1000}};

struct Cost {
  double closedSeconds = 0, syncedSeconds = 0, cpuSeconds = 0;
  double bytes = 0, fileBytes = 0;
};

double cpuNow() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double wallNow() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double residentMb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::vector<std::byte> blockOf(const Workload& w) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(w.rows * w.rowElements) * 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  return bytes;
}

Cost plain(const Workload& w, const std::vector<std::byte>& block, const std::string& folder) {
  Cost cost;
  const double cpu = cpuNow(), start = wallNow();
  const int fd = ::open((folder + "/plain").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  for (std::int64_t b = 0; b < w.batches * w.sites; ++b)
    for (const std::size_t size : {block.size(), block.size() / 2}) {
      if (::write(fd, block.data(), size) != static_cast<ssize_t>(size)) fail("the disk is full");
      cost.bytes += static_cast<double>(size);
    }
  cost.closedSeconds = wallNow() - start;
  cost.cpuSeconds = cpuNow() - cpu;
  ::fsync(fd);
  ::close(fd);
  cost.syncedSeconds = wallNow() - start;
  fs::remove(folder + "/plain");
  return cost;
}

session::SiteSummary siteOf(std::int64_t index) {
  session::SiteSummary site;
  site.modulePath = fmt::format("encoder.layers.{}.linear1", index);
  site.op = "aten::linear";
  site.sampleAxis = "0";
  return site;
}

Cost captured(const Workload& w, const std::vector<std::byte>& block, const std::string& folder) {
  Cost cost;
  const std::string master = folder + "/s.ulps";
  session::Session session = storage::newSession("bench");
  for (std::int64_t i = 0; i < w.rows * w.batches; ++i) session.samples.ids.push_back(std::to_string(i));
  const auto samples = static_cast<std::int64_t>(session.samples.ids.size());
  session::RunRecord run;
  run.capture = session::Capture{};
  storage::RunMetrics metrics;
  for (const auto metric : {session::Metric::relL2, session::Metric::maxAbs})
    metrics[metric] = {w.sites, samples, std::vector<float>(static_cast<std::size_t>(w.sites * samples))};
  metrics.flags.assign(static_cast<std::size_t>(w.sites * samples), 0);
  for (std::int64_t i = 0; i < w.sites; ++i) {
    run.sites.push_back(siteOf(i));
    run.capture->sites.push_back({i, 0});
  }
  const double cpu = cpuNow(), start = wallNow();
  auto writer = storage::RunWriter::begin(master, session, storage::WriteMode::create);
  if (!writer) fail(writer.error().message());
  for (std::int64_t i = 0; i < w.sites; ++i) writer.value().addCapture({"site", true, samples});
  for (std::int64_t b = 0; b < w.batches; ++b)
    for (std::int64_t i = 0; i < w.sites; ++i)
      for (const RunSide side : {RunSide::reference, RunSide::candidate}) {
        const auto dtype = side == RunSide::reference ? base::DType::float32 : base::DType::float16;
        const auto taken = writer.value().capture({static_cast<std::size_t>(i), side, dtype, {w.rows, w.rowElements}, {}, block.data(), b, b * w.rows});
        if (!taken) fail(taken.error().message());
        cost.bytes += static_cast<double>(block.size() / (side == RunSide::reference ? 1 : 2));
      }
  cost.closedSeconds = wallNow() - start;
  cost.cpuSeconds = cpuNow() - cpu;
  const auto ended = writer.value().finish(run, metrics, {});
  if (!ended) fail(ended.error().message());
  cost.syncedSeconds = wallNow() - start;
  cost.cpuSeconds = cpuNow() - cpu;
  cost.fileBytes = static_cast<double>(fs::file_size(master + ".d/run-0001.tensors.h5"));
  fs::remove_all(master + ".d");
  fs::remove(master);
  return cost;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const Workload& w, const std::string& folder) {
  const auto block = blockOf(w);
  captured(w, block, folder);
  plain(w, block, folder);
  const double residentBefore = residentMb();
  std::vector<double> cpu, closed, synced, closedRate, syncedRate, plainRate;
  Cost last;
  for (int turn = 0; turn < kTurns; ++turn) {
    const Cost p = plain(w, block, folder), c = captured(w, block, folder);
    cpu.push_back(c.cpuSeconds / p.cpuSeconds);
    closed.push_back(c.closedSeconds / p.closedSeconds);
    synced.push_back(c.syncedSeconds / p.syncedSeconds);
    closedRate.push_back(c.bytes / c.closedSeconds / 1e9);
    syncedRate.push_back(c.bytes / c.syncedSeconds / 1e9);
    plainRate.push_back(p.bytes / p.closedSeconds / 1e9);
    last = c;
  }
  fmt::print("RESULT {{\"name\": \"capture\", \"workload\": \"{}\", \"megabytes\": {:.1f}, \"capture_gb_s\": {:.3f}, \"synced_gb_s\": {:.3f}, "
             "\"plain_write_gb_s\": {:.3f}, \"time_ratio\": {:.3f}, \"synced_time_ratio\": {:.3f}, \"cpu_ratio\": {:.3f}, \"bytes_ratio\": {:.5f}, "
             "\"resident_mb_before\": {:.1f}, \"resident_mb_after\": {:.1f}}}\n",
             w.name, last.bytes / 1e6, median(closedRate), median(syncedRate), median(plainRate), median(closed), median(synced), median(cpu),
             last.fileBytes / last.bytes, residentBefore, residentMb());
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path parent = argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path();
  std::string folder = (parent / "ulpscope-bench-XXXXXX").string();
  if (!::mkdtemp(folder.data())) fail(folder + ": cannot be made");
  for (const Workload& w : kWorkloads)
    if (argc < 3 || std::string(argv[2]) == w.name) measure(w, folder);
  fs::remove_all(folder);
  return 0;
}
