// What a report of a large session costs, and how large its files are: the whole command on 10,000 op sites x 1,000 samples, a process each time.
#include "bench_support.h"
#include "core/storage/session_store.h"
#include "tests/support/scratch_folder.h"

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace ulpscope;

constexpr int kSites = 10'000, kSamples = 1'000, kRepetitions = 11;
constexpr double kBarSeconds = 5, kBarBytes = 5e6;

session::SiteSummary site(int i, double relL2) {
  session::SiteSummary s;
  s.modulePath = fmt::format("encoder.layers.{}.self_attn.{}", i / 20, i % 20 < 10 ? "out_proj" : "in_proj");
  s.op = "aten::linear";
  s.occurrence = i % 10 + 1;
  s.source = "model.py:12";
  s.candidateDtype = base::DType::float16;
  s.shape = {32, 128, 512};
  s.sampleAxis = "0";
  for (const session::Metric metric : session::allMetrics()) s.values[metric] = relL2 * (1 + static_cast<int>(metric));
  s.values[session::Metric::headroomBits] = 4 - 1e4 * relL2;
  s.worstSample = i % kSamples;
  return s;
}

// Noise in every cell: a picture that compresses as badly as one can.
base::Status makeLarge(const std::string& master) {
  session::Session session = storage::newSession("bench");
  for (int i = 0; i < kSamples; ++i) session.samples.ids.push_back(fmt::format("sample-{:04}", i));
  std::mt19937 random(7);
  std::lognormal_distribution<double> error(-9, 1);
  session::RunRecord run;
  run.settings.decision = session::parseDecisionRule("argmax").value();
  for (int i = 0; i < kSamples; ++i) run.decisions.push_back({error(random) * 1e3, error(random) * 1e3, error(random)});
  for (int i = 0; i < kSamples / 10; ++i) {
    session::Flip flip;
    flip.sample = 10 * i;
    flip.sampleId = session.samples.ids[static_cast<std::size_t>(flip.sample)];
    flip.referenceDecision = 1;
    flip.candidateDecision = 2;
    flip.kind = "changed";
    flip.firstSiteOverTolerance = i;
    run.flips.push_back(flip);
  }
  for (int i = 0; i < kSites; ++i) run.sites.push_back(site(i, error(random)));
  run.samplesComplete = kSamples;
  storage::RunMetrics metrics;
  std::vector<float> cells(std::size_t{kSites} * kSamples);
  for (float& cell : cells) cell = static_cast<float>(error(random));
  metrics[session::Metric::relL2] = {kSites, kSamples, cells};
  metrics[session::Metric::maxAbs] = {kSites, kSamples, cells};
  metrics.flags.assign(cells.size(), 0);
  const auto written = storage::addRun(master, session, run, metrics, {}, storage::WriteMode::create);
  return written ? base::success() : base::Status(written.error());
}

void benchFormat(const std::string& folder, const std::string& format) {
  const std::string out = folder + "/" + format;
  const std::string command = std::string("QT_QPA_PLATFORM=offscreen '") + ULPSCOPE_BENCH_CLI + "' report '" + folder + "/large.ulps' --out '" + out + "' --format " + format + " > /dev/null";
  std::vector<double> wall;
  for (int i = 0; i < kRepetitions; ++i)
    wall.push_back(bench::costOf([&] {
                     if (std::system(command.c_str()) != 0) std::exit(1);
                   }).wallSeconds);
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) bytes += static_cast<double>(entry.file_size());
  const bench::Spread spread = bench::spreadOf(wall);
  fmt::print("RESULT {{\"bench\": \"report\", \"format\": \"{}\", \"sites\": {}, \"samples\": {}, \"wall_s\": {}, \"bar_s\": {}, \"of_bar\": {:.2f}, \"bytes\": {:.0f}, \"bar_bytes\": {:.0f}, \"bytes_of_bar\": {:.2f}}}\n", format,
             kSites, kSamples, bench::json(spread), kBarSeconds, spread.median / kBarSeconds, bytes, kBarBytes, bytes / kBarBytes);
}

}  // namespace

int main(int argc, char** argv) {
  const tests::ScratchFolder folder;
  if (const auto made = makeLarge(folder.file("large.ulps")); !made) {
    std::fprintf(stderr, "%s\n", made.error().message().c_str());
    return 1;
  }
  std::vector<std::string> formats{"html", "json", "csv", "html,json,csv,junit"};
  if (argc > 1) formats.assign(argv + 1, argv + argc);  // "pdf", where the window is built
  for (const std::string& format : formats) benchFormat(folder.path(), format);
  return 0;
}
