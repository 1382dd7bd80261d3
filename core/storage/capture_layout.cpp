#include "core/storage/capture_layout.h"

#include "core/storage/capture_types.h"
#include "core/storage/run_files.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ulpscope::storage {
namespace {

using session::RunRecord;
using session::SiteSummary;

std::size_t bytesOf(const std::vector<std::int64_t>& shape, base::DType dtype) { return h5::byteCount(shape, base::sizeBytes(dtype), "a captured tensor"); }

// All blocks of one side stand in one dataset where they have the same dtype and the same shape but for axis 0.
bool joins(const CapturePlan& plan, const CaptureBlock& block) {
  return plan.samplesOnAxis0 && !block.shape.empty() && block.firstSample >= 0 && block.firstSample + block.shape[0] <= plan.samples;
}

bool sameButRows(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return a.size() == b.size() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

// The dataset's bytes that no extent holds: they were never written.
std::vector<Extent> withGaps(std::vector<Extent> written, std::uint64_t offset, std::uint64_t sizeBytes) {
  std::vector<Extent> all;
  std::uint64_t at = offset;
  for (const Extent& extent : written) {
    if (extent.offset > at) all.push_back({at, extent.offset - at, std::nullopt});
    all.push_back(extent);
    at = extent.offset + extent.size;
  }
  if (at < offset + sizeBytes) all.push_back({at, offset + sizeBytes - at, std::nullopt});
  return all;
}

void describeSite(hid_t group, const RunRecord& run, std::size_t index, const CapturePlan& plan) {
  h5::writeAttribute(group, "label", plan.label);
  if (!run.capture || run.capture->sites.size() <= index) return;
  const std::int64_t number = run.capture->sites[index].site;
  if (number < 0 || number >= static_cast<std::int64_t>(run.sites.size())) h5::fail("names no op site of the run", captureName(index));
  const SiteSummary& site = run.sites[static_cast<std::size_t>(number)];
  h5::writeAttribute(group, "site", number);
  h5::writeAttribute(group, "module", site.modulePath);
  h5::writeAttribute(group, "op", site.op);
  h5::writeAttribute(group, "overload", site.overload);
  h5::writeAttribute(group, "occurrence", std::int64_t{site.occurrence});
  h5::writeAttribute(group, "output", std::int64_t{site.output});
  h5::writeAttribute(group, "sample_axis", site.sampleAxis);
}

}  // namespace

CaptureLayout::CaptureLayout(const std::string& sessionId, const std::string& runId)
    : m_file(createGrowing(m_image)), m_entry(beginTensorsFile(m_file, sessionId, runId)) {}

const h5::Group& CaptureLayout::groupOf(std::size_t capture) {
  if (m_group >= 0 && m_current == capture) return m_group;
  if (m_captures < 0) m_captures = h5::createGroup(m_entry, kCaptures, "NXcollection");
  const std::string name = captureName(capture);
  m_group = h5::hasLink(m_captures, name) ? h5::openGroup(m_captures, name) : h5::createGroup(m_captures, name, "NXcollection");
  m_current = capture;
  return m_group;
}

CaptureLayout::Dataset& CaptureLayout::create(const CaptureBlock& block, const std::string& name, std::vector<std::int64_t> shape) {
  const h5::Plist plist(h5::check(H5Pcreate(H5P_DATASET_CREATE), "cannot be made"));
  h5::check(H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY), "cannot be made");
  h5::check(H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER), "cannot be made");
  const h5::Dataset made = h5::createArray(groupOf(block.capture), name, typeOf(block.dtype), shape, plist);
  if (block.dtype == base::DType::bfloat16) h5::writeAttribute(made, "dtype", base::name(block.dtype));
  Dataset dataset;
  dataset.capture = block.capture;
  dataset.name = name;
  dataset.dtype = block.dtype;
  dataset.sizeBytes = bytesOf(shape, block.dtype);
  dataset.shape = std::move(shape);
  if (dataset.sizeBytes > 0) {
    const haddr_t offset = H5Dget_offset(made);
    if (offset == HADDR_UNDEF) h5::failFromHdf5("has no place in the file", name);
    dataset.offset = offset;
  }
  return m_datasets.emplace(std::pair(block.capture, name), std::move(dataset)).first->second;
}

CaptureLayout::Dataset& CaptureLayout::datasetFor(const CapturePlan& plan, const CaptureBlock& block) {
  if (joins(plan, block)) {
    const auto found = m_datasets.find({block.capture, sideName(block.side)});
    std::vector<std::int64_t> shape = block.shape;
    shape[0] = plan.samples;
    Dataset* whole = found == m_datasets.end() ? &create(block, sideName(block.side), shape) : &found->second;
    whole->allBatches = true;
    if (whole->dtype == block.dtype && sameButRows(whole->shape, block.shape)) return *whole;
  }
  const std::string name = batchName(block.side, block.batch);
  if (m_datasets.contains({block.capture, name})) h5::fail("was captured twice", captureName(block.capture) + "/" + name);
  return create(block, name, block.shape);
}

std::uint64_t CaptureLayout::place(const CapturePlan& plan, const CaptureBlock& block) {
  Dataset& dataset = datasetFor(plan, block);
  m_pending = {dataset.offset, bytesOf(block.shape, block.dtype), std::nullopt};
  if (!dataset.allBatches || block.shape[0] == 0) return m_pending.offset;
  const auto next = dataset.rows.lower_bound(block.firstSample);
  const bool meetsNext = next != dataset.rows.end() && next->first < block.firstSample + block.shape[0];
  const bool meetsLast = next != dataset.rows.begin() && std::prev(next)->first + std::prev(next)->second > block.firstSample;
  if (meetsNext || meetsLast) h5::fail("was captured twice", captureName(block.capture) + "/" + dataset.name);
  dataset.rows[block.firstSample] = block.shape[0];
  m_pending.offset += static_cast<std::uint64_t>(block.firstSample) * (m_pending.size / static_cast<std::uint64_t>(block.shape[0]));
  return m_pending.offset;
}

void CaptureLayout::written(std::uint64_t checksum) {
  if (m_pending.size == 0) return;
  m_pending.checksum = checksum;
  m_extents.push_back(m_pending);
}

// Rows that were not reached read as zeros in other programs, so the dataset says which were.
void CaptureLayout::describeRows(const Dataset& dataset) {
  std::int64_t next = 0;
  nlohmann::json runs = nlohmann::json::array();
  for (const auto& [first, count] : dataset.rows) {
    if (!runs.empty() && first == next)
      runs.back()[1] = first + count;
    else
      runs.push_back({first, first + count});
    next = first + count;
  }
  if (runs.size() == 1 && runs[0] == nlohmann::json{0, dataset.shape[0]}) return;
  h5::writeAttribute(h5::openDataset(groupOf(dataset.capture), dataset.name), kRowsWritten, runs.dump());
}

// Rows that no batch reached take room in the file, but hold nothing.
std::int64_t CaptureLayout::writtenBytes(const Dataset& dataset) {
  if (!dataset.allBatches || dataset.shape.empty() || dataset.shape[0] == 0) return static_cast<std::int64_t>(dataset.sizeBytes);
  std::int64_t rows = 0;
  for (const auto& [first, count] : dataset.rows) rows += count;
  return static_cast<std::int64_t>(dataset.sizeBytes) / dataset.shape[0] * rows;
}

void CaptureLayout::describeCaptures(const std::vector<CapturePlan>& plans, RunRecord& run) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    describeSite(groupOf(i), run, i, plans[i]);
    if (run.capture && i < run.capture->sites.size()) run.capture->sites[i].bytes = 0;
  }
  for (const auto& [key, dataset] : m_datasets) {
    if (dataset.allBatches) describeRows(dataset);
    if (run.capture && dataset.capture < run.capture->sites.size())
      run.capture->sites[dataset.capture].bytes += writtenBytes(dataset);
  }
}

// Containers return what a part of theirs made: the same dataset under another name, not a copy.
void CaptureLayout::linkModules(const RunRecord& run) {
  if (!run.capture || m_datasets.empty()) return;
  std::map<std::int64_t, std::size_t> captureOf;
  for (std::size_t i = 0; i < run.capture->sites.size(); ++i) captureOf[run.capture->sites[i].site] = i;
  h5::Group modules;
  for (std::size_t i = 0; i < run.moduleOutputs.size(); ++i) {
    const session::ModuleOutput& output = run.moduleOutputs[i];
    const auto capture = captureOf.find(output.site);
    if (capture == captureOf.end()) continue;
    if (modules < 0) modules = h5::createGroup(m_entry, kModules, "NXcollection");
    const h5::Group group = h5::createGroup(modules, std::to_string(i), "NXcollection");
    h5::writeAttribute(group, "module", output.modulePath);
    h5::writeAttribute(group, "call", std::int64_t{output.call});
    h5::writeAttribute(group, "name", output.name);
    if (output.part) h5::writeAttribute(group, "part", std::int64_t{1});
    for (auto at = m_datasets.lower_bound({capture->second, ""}); at != m_datasets.end() && at->first.first == capture->second; ++at)
      h5::check(H5Lcreate_hard(groupOf(capture->second), at->second.name.c_str(), group, at->second.name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                "cannot be linked", at->second.name);
  }
}

void CaptureLayout::sortExtents() {
  const auto before = [](const Extent& a, const Extent& b) { return a.offset < b.offset; };
  std::sort(m_extents.begin(), m_extents.end(), before);
  std::vector<Extent> all;
  for (const auto& [key, dataset] : m_datasets) {
    const auto from = std::lower_bound(m_extents.begin(), m_extents.end(), Extent{dataset.offset, 0, {}}, before);
    const auto to = std::lower_bound(from, m_extents.end(), Extent{dataset.offset + dataset.sizeBytes, 0, {}}, before);
    const auto covered = withGaps({from, to}, dataset.offset, dataset.sizeBytes);
    all.insert(all.end(), covered.begin(), covered.end());
  }
  std::sort(all.begin(), all.end(), before);
  m_extents = std::move(all);
}

void CaptureLayout::finish(const std::vector<CapturePlan>& plans, RunRecord& run, const std::vector<OutputTensors>& outputs) {
  describeCaptures(plans, run);
  linkModules(run);
  finishTensorsFile(m_entry, run, outputs);
  m_group = {};
  m_captures = {};
  m_entry = {};
  h5::check(H5Fflush(m_file, H5F_SCOPE_GLOBAL), "cannot be finished");
  m_file = {};
  sortExtents();
}

}  // namespace ulpscope::storage
