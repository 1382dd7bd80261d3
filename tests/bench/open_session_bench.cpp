// What opening a large session costs: 10,000 op sites x 1,000 samples, beside run files of 100 GB (sparse).
//
// Each opening is a process of its own, as a user's is, so that its peak memory is that opening's alone. The files are in
// the page cache. The median and a 95 % interval of it (order statistics) are printed, one RESULT line a figure.
#include "core/storage/session_store.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace ulpscope;
namespace fs = std::filesystem;

constexpr int kSites = 10'000, kSamples = 1'000, kRepetitions = 31;
constexpr std::uintmax_t kBesideBytes = std::uintmax_t{100} * 1000 * 1000 * 1000;

struct Opening {
  double wallMs = 0, cpuMs = 0, peakMb = 0;
};

session::SiteSummary site(int index) {
  session::SiteSummary site;
  site.modulePath = fmt::format("encoder.layers.{}.self_attn.out_proj", index / 20);
  site.op = index % 2 == 0 ? "aten::linear" : "aten::layer_norm";
  site.source = fmt::format("transformer.py:{}", 300 + index % 400);
  site.candidateDtype = base::DType::float16;
  site.policyClass = "lower_precision_fp";
  site.shape = {32, 128, 512};
  site.sampleAxis = "0";
  site.values[session::Metric::maxAbs] = 1e-3 * index;
  site.values[session::Metric::relL2] = 1e-4 + 1e-8 * index;
  site.values[session::Metric::referenceMaxAbs] = site.values[session::Metric::candidateMaxAbs] = 10.5;
  site.worstSample = index % kSamples;
  site.values[session::Metric::maxUlp] = 3;
  site.values[session::Metric::introducedRelL2] = 1e-5;
  site.values[session::Metric::headroomBits] = 12.6;
  return site;
}

base::Status makeSession(const std::string& master) {
  session::Session session = storage::newSession("bench");
  for (int i = 0; i < kSamples; ++i) session.samples.ids.push_back(std::to_string(i));
  for (int i = 0; i < kSites / 20; ++i) session.model.modules.push_back({fmt::format("encoder.layers.{}", i), "TransformerEncoderLayer", {}, 100});
  session::RunRecord run;
  storage::RunMetrics metrics;
  for (int i = 0; i < kSites; ++i) run.sites.push_back(site(i));
  const std::vector<float> cells(std::size_t{kSites} * kSamples, 1e-3F);
  metrics[session::Metric::relL2] = {kSites, kSamples, cells};
  metrics[session::Metric::maxAbs] = {kSites, kSamples, cells};
  metrics.flags.assign(cells.size(), 0);
  const auto written = storage::addRun(master, session, run, metrics, {}, storage::WriteMode::create);
  if (!written) return written.error();
  const std::string tensors = master + ".d/run-0001.tensors.h5";
  fs::permissions(tensors, fs::perms::owner_all);
  fs::resize_file(tensors, kBesideBytes);
  return base::success();
}

double cpuNowMs() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

// In the child: opens and prints the figures.
int openOnce(const std::string& master) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpuNowMs();
  const auto session = storage::openSession(master);
  const double wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!session || session->runs.size() != 1 || session->runs[0].sites.size() != kSites) return 1;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("{} {} {}\n", wall, cpuNowMs() - cpu, static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
  return 0;
}

bool openInProcess(const std::string& self, const std::string& master, Opening& opening) {
  std::FILE* pipe = ::popen(("'" + self + "' --open '" + master + "'").c_str(), "r");
  if (!pipe) return false;
  const bool read = std::fscanf(pipe, "%lf %lf %lf", &opening.wallMs, &opening.cpuMs, &opening.peakMb) == 3;
  return ::pclose(pipe) == 0 && read;
}

// Median with the 95 % interval of a median: ranks n/2 -+ 0.98 sqrt(n).
void printResult(const char* figure, std::vector<double> values, const char* unit, double bar) {
  std::sort(values.begin(), values.end());
  const double middle = static_cast<double>(values.size() - 1) / 2, spread = 0.98 * std::sqrt(static_cast<double>(values.size()));
  const double low = values[static_cast<std::size_t>(std::floor(middle - spread))], high = values[static_cast<std::size_t>(std::ceil(middle + spread))];
  fmt::print(R"(RESULT {{"bench":"open_session","figure":"{}","unit":"{}","median":{:.1f},"low":{:.1f},"high":{:.1f},"n":{},"bar":{},"holds":{}}})"
             "\n",
             figure, unit, values[values.size() / 2], low, high, values.size(), bar, low <= bar);
}

int measure(const std::string& self, const std::string& folder) {
  const std::string master = folder + "/bench.ulps";
  if (const auto made = makeSession(master); !made) return std::fprintf(stderr, "%s\n", made.error().message().c_str()), 1;
  std::vector<double> wall, cpu, peak;
  for (int i = 0; i < kRepetitions; ++i) {
    Opening opening;
    if (!openInProcess(self, master, opening)) return std::fprintf(stderr, "%s: cannot be opened\n", master.c_str()), 1;
    wall.push_back(opening.wallMs);
    cpu.push_back(opening.cpuMs);
    peak.push_back(opening.peakMb);
  }
  fmt::print("master {:.1f} MB, {} sites x {} samples, {:.0f} GB beside it\n", static_cast<double>(fs::file_size(master)) / 1e6, kSites, kSamples,
             static_cast<double>(kBesideBytes) / 1e9);
  printResult("wall", wall, "ms", 300);
  printResult("cpu", cpu, "ms", 300);
  printResult("peak_memory", peak, "MB", 300);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--open") return openOnce(argv[2]);
  std::string folder = (fs::temp_directory_path() / "ulpscope-bench-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 1;
  const int failed = measure(fs::read_symlink("/proc/self/exe").string(), folder);
  fs::remove_all(folder);
  return failed;
}
