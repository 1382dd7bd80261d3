#include "core/storage/site_look.h"

#include "core/analysis/tensor_view.h"
#include "core/storage/capture_checks.h"
#include "core/storage/capture_types.h"
#include "core/storage/h5_guard.h"
#include "core/storage/run_files.h"
#include "core/storage/session_target.h"

#include <algorithm>
#include <optional>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::RunRecord;
using session::SampleAxis;
using session::Session;

constexpr std::uint64_t kDigestBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kHashedBytes = std::uint64_t{8} << 20;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;

// Where the sample stands in the run.
struct Place {
  std::int64_t position = 0;  // among the run's samples
  std::int64_t samples = 0;   // of the run
  std::int64_t batch = 0, firstOfBatch = 0, inBatch = 0;
};

// What is read of a dataset along its sample axis.
struct Entries {
  int axis = -1;
  std::int64_t first = 0, step = 1, count = 0;
};

// A stretch of the file that holds all that was read of one dataset.
struct Stretch {
  std::uint64_t begin = 0, end = 0, readBytes = 0;
  std::string name;
};

Error unknown(const std::string& what, const LookRequest& request, const std::string& remedy) {
  return Error{ErrorKind::usage, what, request.masterPath + ", " + request.runId, remedy};
}

Result<Place> placeOf(const Session& session, const RunRecord& run, const LookRequest& request) {
  if (request.sample < 0 || request.sample >= static_cast<std::int64_t>(session.samples.ids.size())) return unknown("has no sample of that number", request, "see the session's samples");
  const std::string& id = session.samples.ids[static_cast<std::size_t>(request.sample)];
  const auto& only = run.settings.onlySamples;
  Place place{request.sample, static_cast<std::int64_t>(only.empty() ? session.samples.ids.size() : only.size())};
  if (!only.empty()) {
    const auto found = std::find(only.begin(), only.end(), id);
    if (found == only.end()) return unknown("did not run sample " + id, request, "choose a sample that it ran, or run that one");
    place.position = found - only.begin();
  }
  const std::int64_t size = std::max(1, run.settings.batchSize);
  place.batch = place.position / size;
  place.firstOfBatch = place.batch * size;
  place.inBatch = std::min(size, place.samples - place.firstOfBatch);
  return place;
}

// sample: of `samples` that lie along the axis.
Entries entriesOf(const std::vector<std::int64_t>& shape, const SampleAxis& axis, std::int64_t sample, std::int64_t samples) {
  const analysis::SampleLayout layout = analysis::layoutOf(shape, axis, samples);
  if (layout.kind == SampleAxis::Kind::wholeBatch) return {};
  const std::int64_t each = layout.axis / layout.samples;
  if (layout.kind == SampleAxis::Kind::sampleMinor) return {axis.axis, sample, layout.samples, each};
  return {axis.axis, sample * each, 1, each};
}

// Offsets of the first and one past the last byte that the selection reads, from the dataset's first byte.
Stretch stretchOf(const h5::Dataset& dataset, const std::vector<std::int64_t>& whole, const TensorPart& part, const std::string& name) {
  if (part.bytes.empty()) return {0, 0, 0, name};
  const haddr_t offset = H5Dget_offset(dataset);
  const std::uint64_t size = base::sizeBytes(part.dtype);
  std::uint64_t first = 0, last = 0, stride = 1;
  for (std::size_t d = whole.size(); d-- > 0; stride *= static_cast<std::uint64_t>(whole[d])) {
    const bool isSamples = static_cast<int>(d) == part.sampleAxis;
    const std::int64_t from = isSamples ? part.first : 0, step = isSamples ? part.step : 1;
    first += static_cast<std::uint64_t>(from) * stride;
    last += static_cast<std::uint64_t>(from + (part.shape[d] - 1) * step) * stride;
  }
  return {offset + first * size, offset + (last + 1) * size, part.bytes.size(), name};
}

TensorPart readPart(const h5::Dataset& dataset, const Entries& entries, const std::string& name) {
  const h5::Type type(h5::check(H5Dget_type(dataset), "has no readable type", name));
  TensorPart part{dtypeOf(type, name), h5::shapeOf(dataset, name), {}, entries.axis, entries.first, entries.step};
  if (entries.axis >= 0) part.shape[static_cast<std::size_t>(entries.axis)] = entries.count;
  const std::size_t bytes = h5::byteCount(part.shape, base::sizeBytes(part.dtype), name);
  if (bytes > kMostBytes) h5::fail("is " + std::to_string(bytes >> 20) + " MiB in one piece, more than is shown at once", name, "read it with h5py");
  part.bytes.resize(bytes);
  if (bytes == 0) return part;
  const h5::Space space(h5::check(H5Dget_space(dataset), "has no readable shape", name));
  hid_t memory = H5S_ALL;
  h5::Space room;
  if (entries.axis >= 0) {
    std::vector<hsize_t> start(part.shape.size(), 0), stride(part.shape.size(), 1), count(part.shape.begin(), part.shape.end());
    start[static_cast<std::size_t>(entries.axis)] = static_cast<hsize_t>(entries.first);
    stride[static_cast<std::size_t>(entries.axis)] = static_cast<hsize_t>(entries.step);
    h5::check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), stride.data(), count.data(), nullptr), "cannot be read", name);
    room = h5::Space(h5::check(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), "cannot be read", name));
    memory = room;
  }
  h5::check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, part.bytes.data()), "cannot be read", name);
  return part;
}

class Reader {
 public:
  Reader(const Session& session, const RunRecord& run, const LookRequest& request, const Place& place)
      : m_session(session), m_run(run), m_site(run.sites[static_cast<std::size_t>(request.site)]), m_place(place), m_stored(storedSite(run, request.site)) {}

  SiteLook read(const std::string& path) {
    m_stretches.clear();
    const h5::File file = h5::openForReading(path, h5::Locking::none);
    const h5::Group entry = openTensorsEntry(file, m_session, m_run);
    SiteLook look;
    if (m_stored.kind == StoredSite::Kind::captured) {
      const h5::Group group = captureGroup(entry);
      look.reference.value = captured(group, RunSide::reference);
      look.candidate.value = captured(group, RunSide::candidate);
    } else {
      const h5::Group group = outputGroup(entry);
      look.reference.value = ofOutput(group, RunSide::reference);
      look.candidate.value = ofOutput(group, RunSide::candidate);
    }
    if (look.reference.value.shape != look.candidate.value.shape) h5::fail("has other shapes in the two runs", session::siteLabel(m_site));
    look.batch = m_place.batch;
    return look;
  }
  const std::vector<Stretch>& stretches() const { return m_stretches; }  // of captured tensors

 private:
  h5::Group captureGroup(const h5::Group& entry) const {
    const std::string name = captureName(m_stored.number);
    h5::Group group = h5::openGroup(h5::openGroup(entry, kCaptures), name);
    if (h5::readIntegerAttribute(group, "site") != m_run.capture->sites[m_stored.number].site) h5::fail("is of another op site than the record says", name, kDamagedFile);
    return group;
  }

  // Outputs are numbered by what was stored, which may be fewer than the record has.
  h5::Group outputGroup(const h5::Group& entry) const {
    const std::string& wanted = m_run.outputs[m_stored.number].name;
    const std::int64_t count = h5::readIntegerAttribute(entry, "outputs");
    for (std::int64_t i = 0; i < count; ++i) {
      h5::Group group = h5::openGroup(entry, "output_" + std::to_string(i));
      if (h5::readTextAttribute(group, "name") == wanted) return group;
    }
    h5::fail("was not stored", "output '" + wanted + "'", "capture the module that makes it");
  }

  TensorPart captured(const h5::Group& group, RunSide side) {
    const std::string rows = sideName(side);
    if (h5::hasLink(group, rows)) {
      const h5::Dataset dataset = h5::openDataset(group, rows);
      const CapturedBlock block = blockOf(dataset, rows, side, -1);
      if (block.shape.empty()) h5::fail("has no axis of samples", rows, kDamagedFile);
      for (const RowRange& range : rowsWritten(dataset, rows, block.shape[0]))
        if (m_place.position >= range.first && m_place.position < range.end) return taken(dataset, block.shape, {0, m_place.position, 1, 1}, rows);
    }
    const std::string name = batchName(side, m_place.batch);
    if (!h5::hasLink(group, name)) h5::fail("holds nothing of this sample in the " + rows + ": the run ended before it, or the op did not run there", session::siteLabel(m_site), "run it again");
    const h5::Dataset dataset = h5::openDataset(group, name);
    const CapturedBlock block = blockOf(dataset, name, side, m_place.batch);
    return taken(dataset, block.shape, entriesOf(block.shape, SampleAxis::fromText(m_site.sampleAxis), m_place.position - m_place.firstOfBatch, m_place.inBatch), name);
  }

  CapturedBlock blockOf(const h5::Dataset& dataset, const std::string& name, RunSide side, std::int64_t batch) const {
    CapturedBlock block;
    const h5::Type type(h5::check(H5Dget_type(dataset), "has no readable type", name));
    block.dtype = dtypeOf(type, name);
    block.shape = h5::shapeOf(dataset, name);
    block.batch = batch;
    checkAgainstRecord(m_site, side, block, name);
    return block;
  }

  TensorPart taken(const h5::Dataset& dataset, const std::vector<std::int64_t>& whole, const Entries& entries, const std::string& name) {
    TensorPart part = readPart(dataset, entries, name);
    m_stretches.push_back(stretchOf(dataset, whole, part, name));
    return part;
  }

  TensorPart ofOutput(const h5::Group& group, RunSide side) const {
    const std::string name = sideName(side);
    const h5::Dataset dataset = h5::openDataset(group, name);
    const auto shape = h5::shapeOf(dataset, name);
    return readPart(dataset, entriesOf(shape, SampleAxis::fromText(m_run.outputs[m_stored.number].sampleAxis), m_place.position, m_place.samples), name);
  }

  const Session& m_session;
  const RunRecord& m_run;
  const session::SiteSummary& m_site;
  Place m_place;
  StoredSite m_stored;
  std::vector<Stretch> m_stretches;
};

// The blocks that a stretch was read from; Error unless they hold all of it.
Result<std::vector<Extent>> blocksOf(const std::vector<Extent>& extents, const Stretch& stretch, const std::string& path) {
  std::vector<Extent> blocks;
  auto at = std::upper_bound(extents.begin(), extents.end(), stretch.begin, [](std::uint64_t offset, const Extent& e) { return offset < e.offset; });
  std::uint64_t covered = stretch.begin;
  if (at != extents.begin()) --at;
  for (; covered < stretch.end && at != extents.end() && at->offset <= covered && at->checksum; ++at) {
    if (at->offset + at->size <= covered) break;
    covered = at->offset + at->size;
    blocks.push_back(*at);
  }
  if (covered < stretch.end) return Error{ErrorKind::input, "is not what the file's list of tensors says", path + ", " + stretch.name, kDamagedFile};
  return blocks;
}

// Whether all that was read could be held against its checksum.
Result<bool> verify(const std::vector<Extent>& extents, const std::vector<Stretch>& stretches, const std::string& path) {
  bool all = true;
  for (const Stretch& stretch : stretches) {
    if (stretch.readBytes == 0) continue;
    auto blocks = blocksOf(extents, stretch, path);
    if (!blocks) return blocks.error();
    const std::uint64_t most = std::max(kHashedBytes, 2 * stretch.readBytes);
    const auto large = std::erase_if(blocks.value(), [most](const Extent& block) { return block.size > most; });
    all = all && large == 0;
    if (auto checked = checkExtents(path, blocks.value()); !checked) return checked.error();
  }
  return all;
}

}  // namespace

StoredSite storedSite(const RunRecord& run, std::int64_t site) {
  using Kind = StoredSite::Kind;
  if (run.capture)
    for (std::size_t i = 0; i < run.capture->sites.size(); ++i)
      if (run.capture->sites[i].site == site) return {Kind::captured, i};
  for (const session::ModuleOutput& made : run.moduleOutputs) {
    if (!made.modulePath.empty() || made.site != site || made.part) continue;
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      if (run.outputs[i].name == made.name) return {Kind::output, i};
  }
  if (run.capture)
    for (std::size_t i = 0; i < run.capture->leftOut.size(); ++i)
      if (run.capture->leftOut[i].site == site) return {Kind::leftOut, i};
  return {};
}

Result<SiteLook> lookAt(const Session& session, const LookRequest& request) {
  const auto path = fileOfRun(request.masterPath, session, request.runId, RunFileKind::tensors);
  if (!path) return path.error();
  const RunRecord& run = *session.run(request.runId);
  if (request.site < 0 || request.site >= static_cast<std::int64_t>(run.sites.size())) return unknown("has no op site of that number", request, "see the run's op sites");
  const StoredSite stored = storedSite(run, request.site);
  if (stored.kind != StoredSite::Kind::captured && stored.kind != StoredSite::Kind::output)
    return unknown("did not store " + session::siteLabel(run.sites[static_cast<std::size_t>(request.site)]), request, "run again with --capture and the module's path");
  const auto place = placeOf(session, run, request);
  if (!place) return place.error();
  const auto whole = h5::checkFile(path.value(), kDigestBytes);
  if (!whole) return whole.error();
  Reader reader(session, run, request, place.value());
  const std::scoped_lock alone(h5::libraryMutex());
  const auto body = [&] { return reader.read(path.value()); };
  auto look = whole->digest == Digest::intact ? h5::caught(path.value(), body) : h5::triedAndRead(path.value(), body);
  if (!look || whole->digest == Digest::none) return look;  // a file that another program changed has no checksums
  const auto verified = verify(whole->extents, reader.stretches(), path.value());
  if (!verified) return verified.error();
  look.value().verified = verified.value() && whole->digest == Digest::intact;
  return look;
}

}  // namespace ulpscope::storage
