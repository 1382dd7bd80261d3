// What storing every activation of both runs costs: lock-step with all metrics, every op output in full, until all files are
// closed, synced and in place, against a bare FP32 and a bare BF16 forward.
#include "core/engine/capture.h"
#include "tests/bench/bench_support.h"
#include "tests/bench/workload.h"

#include <filesystem>

namespace {

using namespace ulpscope;
using namespace ulpscope::bench;
namespace fs = std::filesystem;

constexpr int kPairs = 21;
constexpr double kBytesASite = 4096;

// Ends the program with the error's line.
template <typename T>
T orEnd(base::Result<T> result) {
  if (result.ok()) return std::move(result).value();
  fmt::print(stderr, "{}\n", result.error().message());
  std::exit(1);
}

struct Stored {
  double fileBytes = 0, payloadBytes = 0, sites = 0;
};

Stored captureAll(Workload& w, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string master = folder / "bench.ulps";
  session::Session session = storage::newSession("bench");
  session.samples = w.samples;
  storage::RunWriter writer = orEnd(storage::RunWriter::begin(master, session, storage::WriteMode::create));
  engine::LoadedModel described;
  described.info.modules = {{"", "Model", {}, 0}};
  session::RunRecord run;
  run.settings.autocast = base::DType::bfloat16;
  run.settings.capture = {"."};
  run.settings.captureBudget = std::int64_t{1} << 40;
  engine::Capture capture = orEnd(engine::Capture::make(run.settings, described, writer, w.batch.size));
  engine::Comparison comparison(w.samples, base::DType::bfloat16, w.axes);
  comparison.captureTo(&capture);
  comparison.beginBatch(w.batch);
  w.runLockStep(comparison);
  storage::RunMetrics metrics;
  comparison.describe(run, metrics);
  const session::Session stored = orEnd(writer.finish(std::move(run), metrics, {}));
  Stored result;
  for (const auto& site : stored.runs.front().capture->sites) result.payloadBytes += static_cast<double>(site.bytes);
  result.sites = static_cast<double>(stored.runs.front().capture->sites.size());
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename() == "run-0001.tensors.h5") result.fileBytes = static_cast<double>(entry.file_size());
  return result;
}

void measure(const std::string& name, const fs::path& folder) {
  const auto w = loadWorkload(ULPSCOPE_BENCH_WORKLOADS, name);
  w->findAxes();
  Stored stored;
  const Ratios ratios = measurePairs(
      kPairs,
      [&] {
        w->runBareFp32();
        w->runBareBf16();
      },
      [&] { stored = captureAll(*w, folder); });
  printRatios("full_capture_to_synced_files", name, ratios, {1.35, 1.25});
  printValues("full_capture_bytes_over_1.005_payload_and_4KB_a_site", name, "ratio", {stored.fileBytes / (1.005 * stored.payloadBytes + kBytesASite * stored.sites)}, 1);
  fmt::print("{}: {:.0f} MB of payload, {:.0f} sites\n", name, stored.payloadBytes / 1e6, stored.sites);
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  keepFreedMemory();
  const fs::path folder = fs::path(argc > 1 ? argv[1] : fs::temp_directory_path().string()) / "ulpscope-bench-capture";
  for (const char* name : {"resnet18", "encoder6"}) measure(name, folder);
  return 0;
}
