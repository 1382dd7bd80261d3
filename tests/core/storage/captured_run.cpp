#include "tests/core/storage/captured_run.h"

#include <random>

namespace ulpscope::tests {
namespace {

session::SiteSummary siteOf(const Captured& captured, std::size_t index) {
  session::SiteSummary site;
  site.modulePath = "module." + std::to_string(index);
  site.op = "aten::linear";
  site.overload = "out";
  site.occurrence = 2;
  site.output = 1;
  site.sampleAxis = "0";
  site.shape = captured.shape;
  site.referenceDtype = site.candidateDtype = captured.dtype;
  return site;
}

}  // namespace

Captured randomCapture(base::DType dtype, const std::vector<std::int64_t>& shape) {
  std::size_t size = base::sizeBytes(dtype);
  for (const std::int64_t axis : shape) size *= static_cast<std::size_t>(axis);
  std::mt19937_64 random(7 + static_cast<unsigned>(dtype));
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(dtype == base::DType::boolean ? random() & 1 : random());
  return {dtype, shape, {}, std::move(bytes), 0};
}

std::string captureAll(storage::RunWriter& writer, const std::vector<Captured>& captures) {
  for (std::size_t i = 0; i < captures.size(); ++i) {
    const Captured& c = captures[i];
    const bool onAxis0 = c.strides.empty() && !c.shape.empty();
    const auto index = writer.addCapture({"site " + std::to_string(i), onAxis0, onAxis0 ? c.shape[0] : 0});
    for (const auto side : {storage::RunSide::reference, storage::RunSide::candidate}) {
      const auto taken = writer.capture({index, side, c.dtype, c.shape, c.strides, c.bytes.data() + c.offset * static_cast<std::int64_t>(base::sizeBytes(c.dtype)), 0, 0});
      if (!taken) return taken.error().message();
    }
  }
  return "";
}

base::Result<session::Session> finish(storage::RunWriter& writer, const std::vector<Captured>& captures) {
  const SampleRun sample = sampleRun();
  session::RunRecord run;
  run.samplesComplete = 3;
  run.sites = sample.run.sites;
  storage::RunMetrics metrics = sample.metrics;
  if (!captures.empty()) {
    run.sites.clear();
    run.capture = session::Capture{};
    for (std::size_t i = 0; i < captures.size(); ++i) {
      run.sites.push_back(siteOf(captures[i], i));
      run.capture->sites.push_back({static_cast<std::int64_t>(i), 0});
    }
    const auto sites = static_cast<std::int64_t>(captures.size());
    for (const auto metric : {session::Metric::relL2, session::Metric::maxAbs}) metrics[metric] = {sites, 3, std::vector<float>(captures.size() * 3)};
    metrics.flags.assign(captures.size() * 3, 0);
    const std::int64_t last = sites - 1;
    run.moduleOutputs = {{"encoder.0", 1, "output", 0, false}, {"encoder", 1, "output.0", 0, false}, {"", 2, "output", last, false}};
  }
  return writer.finish(run, metrics, sample.outputs);
}

std::string checkpoint(storage::RunWriter& writer, std::int64_t samplesComplete) {
  const SampleRun sample = sampleRun();
  session::RunRecord run = sample.run;
  run.samplesComplete = samplesComplete;
  const auto written = writer.checkpoint(run, sample.metrics);
  return written ? "" : written.error().message();
}

}  // namespace ulpscope::tests
