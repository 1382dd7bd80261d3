#include "core/storage/run_files.h"

#include "core/base/float_formats.h"
#include "core/storage/capture_types.h"
#include "core/storage/format_header.h"
#include "core/storage/master_file.h"
#include "core/storage/run_table.h"
#include "core/storage/structure.h"

#include <hdf5_hl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace ulpscope::storage {
namespace {

using base::DType;
using session::Metric;
using session::RunRecord;
using session::Session;

constexpr const char* kMetricsKind = "ulpscope-metrics";
constexpr const char* kTensorsKind = "ulpscope-tensors";

h5::Group createEntry(hid_t file, const std::string& runId) {
  h5::writeAttribute(file, "run_id", runId);
  h5::writeAttribute(file, "default", runId);
  return h5::createGroup(file, runId, "NXentry");
}

void describeEntry(hid_t entry, const RunRecord& run, const char* defaultData) {
  h5::writeAttribute(entry, "default", defaultData);
  h5::writeAttribute(entry, "title", session::runLabel(run));
}

// Fails unless the file is this run's of this session: a file moved in from elsewhere never passes for ours.
h5::Group openEntry(hid_t file, const Session& session, const RunRecord& run) {
  if (h5::readTextAttribute(file, "session_id") != session.id)
    h5::fail("belongs to another session", "", "put the session's own file back, or open the session it belongs to");
  if (h5::readTextAttribute(file, "run_id") != run.id())
    h5::fail("holds " + h5::readTextAttribute(file, "run_id") + ", not " + run.id(), "", "give the run files their own names back");
  return h5::openGroup(file, run.id());
}

struct RunFile {
  h5::File file;
  int format = 0;  // its own
};

RunFile openRunFile(const std::string& path, const char* kind, int newest) {
  h5::File file = h5::openForReading(path, h5::Locking::none);
  const int format = checkHeader(file, kind, newest);
  refuseStrangeStructure(file, Links::none);
  return {std::move(file), format};
}

void attachScale(hid_t data, const char* matrix, const char* scale, unsigned dimension) {
  const h5::Dataset to(h5::check(H5Dopen2(data, matrix, H5P_DEFAULT), "cannot be opened", matrix));
  const h5::Dataset from(h5::check(H5Dopen2(data, scale, H5P_DEFAULT), "cannot be opened", scale));
  if (H5DSis_scale(from) <= 0) h5::check(H5DSset_scale(from, scale), "cannot be made an axis", scale);
  h5::check(H5DSattach_scale(to, from, dimension), "cannot be made an axis", scale);
}

void writeCounter(hid_t data, const char* name, std::int64_t count) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  h5::writeArray(data, name, H5T_STD_I32LE, {count}, values.data());
}

void writeMatrix(hid_t data, const std::string& name, const std::string& longName, const MetricMatrix& matrix) {
  const auto dataset = h5::writeArray(data, name, H5T_IEEE_F32LE, {matrix.sites, matrix.samples}, matrix.values.data());
  h5::writeAttribute(dataset, "long_name", longName);
  h5::writeAttribute(dataset, "interpretation", "image");
}

// The two that every run has, and those that it computed.
bool isStored(const RunMetrics& metrics, Metric metric) { return metric == Metric::relL2 || metric == Metric::maxAbs || metrics.has(metric); }

std::string longName(Metric metric) {
  const std::string unit = session::unit(metric);
  return session::label(metric) + (unit.empty() ? "" : " [" + unit + "]");
}

void writeAxes(hid_t data, const Session& session, const RunRecord& run, const RunMetrics& metrics) {
  std::vector<std::string> labels;
  for (const session::SiteSummary& site : run.sites) labels.push_back(session::siteLabel(site));
  writeCounter(data, "site", metrics.sites());
  writeCounter(data, "sample", metrics.samples());
  h5::writeColumn(data, "layer_name", labels);
  h5::writeColumn(data, "sample_ids", session.samples.ids);
}

void writeDivergence(hid_t entry, const Session& session, const RunRecord& run, const RunMetrics& metrics) {
  const h5::Group data = h5::createGroup(entry, "divergence", "NXdata");
  h5::writeAttribute(data, "signal", "rel_l2");
  std::vector<std::string> others, all{"flags"};
  for (const Metric metric : session::allMetrics()) {
    if (!isStored(metrics, metric)) continue;
    all.push_back(session::key(metric));
    if (metric != Metric::relL2) others.push_back(session::key(metric));
  }
  h5::writeAttribute(data, "auxiliary_signals", others);
  h5::writeAttribute(data, "axes", std::vector<std::string>{"site", "sample"});
  h5::writeAttribute(data, "SILX_style", R"({"signal_scale_type":"log"})");
  h5::writeAttribute(data, "title", "divergence from FP32, " + session::runLabel(run));
  for (const Metric metric : session::allMetrics())
    if (isStored(metrics, metric)) writeMatrix(data, session::key(metric), longName(metric), metrics[metric]);
  h5::writeArray(data, "flags", H5T_STD_U8LE, {metrics.sites(), metrics.samples()}, metrics.flags.data());
  writeAxes(data, session, run, metrics);
  for (const std::string& matrix : all) {
    attachScale(data, matrix.c_str(), "site", 0);
    attachScale(data, matrix.c_str(), "sample", 1);
  }
}

void checkMetrics(const Session& session, const RunRecord& run, const RunMetrics& metrics) {
  const auto sites = static_cast<std::int64_t>(run.sites.size());
  const auto samples = static_cast<std::int64_t>(session.samples.ids.size());
  const auto cells = static_cast<std::size_t>(sites * samples);
  for (const Metric metric : session::allMetrics()) {
    const MetricMatrix& matrix = metrics[metric];
    ULPSCOPE_CHECK(!isStored(metrics, metric) || (matrix.sites == sites && matrix.samples == samples && matrix.values.size() == cells));
  }
  ULPSCOPE_CHECK(metrics.flags.size() == cells);
}

// Reads elements of exactly the file type `type`, of `size` bytes each, so that no conversion of HDF5's takes part.
template <typename T>
std::vector<T> readCells(hid_t data, const char* name, hid_t type, const std::vector<std::int64_t>& shape, std::size_t size = sizeof(T)) {
  const h5::Dataset dataset = h5::openDataset(data, name);
  const h5::Type stored(h5::check(H5Dget_type(dataset), "has no readable type", name));
  if (H5Tequal(stored, type) <= 0) h5::fail("has another type than the format says", name, "the file is damaged");
  if (h5::shapeOf(dataset, name) != shape)
    h5::fail("has another shape than the session's sites and samples", name, "the run file and the master do not belong together");
  std::vector<T> values(h5::byteCount(shape, size, name) / sizeof(T));
  if (!values.empty()) h5::check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "cannot be read", name);
  return values;
}

void writeElements(hid_t group, const char* name, const OutputTensors& output, const StoredElements& elements) {
  const h5::Type type = typeOf(elements.dtype);
  ULPSCOPE_CHECK(elements.bytes.size() == h5::byteCount(output.shape, base::sizeBytes(elements.dtype), output.name));
  h5::writeAttribute(h5::writeArray(group, name, type, output.shape, elements.bytes.data()), "dtype", base::name(elements.dtype));
}

StoredElements readElements(hid_t group, const char* name, const std::vector<std::int64_t>& shape) {
  const h5::Type type(h5::check(H5Dget_type(h5::openDataset(group, name)), "has no readable type", name));
  const DType dtype = dtypeOf(type, name);
  return {dtype, readCells<std::byte>(group, name, type, shape, base::sizeBytes(dtype))};
}

// Names can hold anything ("a/b", ""): the group is numbered, the name an attribute.
std::string outputGroupName(std::size_t index) { return "output_" + std::to_string(index); }

void writeOutput(hid_t entry, std::size_t index, const OutputTensors& output) {
  const h5::Group group = h5::createGroup(entry, outputGroupName(index), "NXcollection");
  h5::writeAttribute(group, "name", output.name);
  writeElements(group, "reference", output, output.reference);
  writeElements(group, "candidate", output, output.candidate);
}

OutputTensors readOutput(hid_t entry, std::size_t index) {
  const h5::Group group = h5::openGroup(entry, outputGroupName(index));
  OutputTensors output;
  output.name = h5::readTextAttribute(group, "name");
  output.shape = h5::shapeOf(h5::openDataset(group, "reference"), "reference");
  output.reference = readElements(group, "reference", output.shape);
  output.candidate = readElements(group, "candidate", output.shape);
  return output;
}

}  // namespace

std::vector<std::byte> metricsImage(const Session& session, const RunRecord& run, const RunMetrics& metrics) {
  checkMetrics(session, run, metrics);
  const h5::File file = h5::createInMemory();
  writeHeader(file, kMetricsKind, kMetricsFormat, session.id);
  {
    const h5::Group entry = createEntry(file, run.id());
    describeEntry(entry, run, "divergence");
    // The whole record travels with the run, so that the pair can be adopted by a master that does not name it.
    writeRun(entry, run);
    writeDivergence(entry, session, run, metrics);
  }
  return h5::imageOf(file);
}

h5::Group beginTensorsFile(hid_t file, const std::string& sessionId, const std::string& runId) {
  writeHeader(file, kTensorsKind, kTensorsFormat, sessionId);
  return createEntry(file, runId);
}

void finishTensorsFile(hid_t entry, const RunRecord& run, const std::vector<OutputTensors>& outputs) {
  describeEntry(entry, run, "output_0");
  h5::writeAttribute(entry, "outputs", static_cast<std::int64_t>(outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) writeOutput(entry, i, outputs[i]);
}

h5::Group openTensorsEntry(hid_t file, const Session& session, const RunRecord& run) {
  checkHeader(file, kTensorsKind, kTensorsFormat);
  return openEntry(file, session, run);
}

RunMetrics readMetricsFile(const std::string& path, const Session& session, const RunRecord& run) {
  const h5::File file = openRunFile(path, kMetricsKind, kMetricsFormat).file;
  const h5::Group data = h5::openGroup(openEntry(file, session, run), "divergence");
  const auto sites = static_cast<std::int64_t>(run.sites.size());
  const auto samples = static_cast<std::int64_t>(session.samples.ids.size());
  const std::vector<std::int64_t> shape{sites, samples};
  RunMetrics metrics;
  for (const Metric metric : session::allMetrics()) {
    const std::string name = session::key(metric);
    if (!isStored(metrics, metric) && !h5::hasLink(data, name)) continue;
    metrics[metric] = {sites, samples, readCells<float>(data, name.c_str(), H5T_IEEE_F32LE, shape)};
  }
  metrics.flags = readCells<std::uint8_t>(data, "flags", H5T_STD_U8LE, shape);
  return metrics;
}

std::vector<OutputTensors> readTensorsFile(const std::string& path, const Session& session, const RunRecord& run) {
  const h5::File file = openRunFile(path, kTensorsKind, kTensorsFormat).file;
  const h5::Group entry = openEntry(file, session, run);
  const std::int64_t count = h5::readIntegerAttribute(entry, "outputs");
  std::vector<OutputTensors> outputs;
  for (std::int64_t i = 0; i < count; ++i) outputs.push_back(readOutput(entry, static_cast<std::size_t>(i)));
  return outputs;
}

std::string sessionIdOfRunFile(const std::string& path) {
  return h5::readTextAttribute(h5::openForReading(path, h5::Locking::none), "session_id");
}

RunRecord readRecordOfMetricsFile(const std::string& path, const Session& session, int number) {
  RunRecord run;
  run.number = number;
  {
    const RunFile opened = openRunFile(path, kMetricsKind, kMetricsFormat);
    run = readRun(openEntry(opened.file, session, run), opened.format);
  }
  if (run.number != number) h5::fail("says that it is run " + std::to_string(run.number), "", "the file is damaged");
  checkIndices(run, session.samples.ids.size());
  readMetricsFile(path, session, run);
  return run;
}

void checkTensorsFile(const std::string& path, const Session& session, const RunRecord& run) {
  const h5::File file = h5::openForReading(path, h5::Locking::none);
  openTensorsEntry(file, session, run);
}

}  // namespace ulpscope::storage
