// A captured tensor back from its file: by its number in the record, with every check before the numbers are given out.
#include "core/storage/capture_checks.h"
#include "core/storage/capture_types.h"
#include "core/storage/capture_stream.h"
#include "core/storage/h5_guard.h"
#include "core/storage/run_files.h"
#include "core/storage/run_writer.h"
#include "core/storage/session_target.h"

#include <algorithm>
#include <functional>

namespace ulpscope::storage {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using session::RunRecord;
using session::Session;
using session::SiteSummary;

// Every byte of the range must stand in an extent, and every extent hash to what was written.
void checkBytes(const std::vector<Extent>& extents, std::uint64_t offset, const std::vector<std::byte>& bytes, const std::string& name) {
  auto extent = std::lower_bound(extents.begin(), extents.end(), offset, [](const Extent& e, std::uint64_t at) { return e.offset < at; });
  std::uint64_t at = 0;
  for (; at < bytes.size(); ++extent) {
    if (extent == extents.end() || extent->offset != offset + at || extent->size > bytes.size() - at || !extent->checksum)
      h5::fail("is not what the file's list of tensors says", name, kDamagedFile);
    if (fastHash(bytes.data() + at, extent->size) != *extent->checksum)
      h5::fail("is damaged: its bytes are not those that were written", name, "restore the file from a copy");
    at += extent->size;
  }
}

std::vector<std::byte> readRows(const h5::Dataset& dataset, hid_t type, const std::vector<std::int64_t>& shape, std::int64_t firstRow, const std::string& name) {
  std::vector<std::byte> bytes(h5::byteCount(shape, H5Tget_size(type), name));
  if (bytes.empty()) return bytes;
  const h5::Space space(h5::check(H5Dget_space(dataset), "has no readable shape", name));
  hid_t memory = H5S_ALL;
  h5::Space part;
  if (!shape.empty()) {
    std::vector<hsize_t> count(shape.begin(), shape.end()), start(shape.size(), 0);
    start[0] = static_cast<hsize_t>(firstRow);
    h5::check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "cannot be read", name);
    part = h5::Space(h5::check(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), "cannot be read", name));
    memory = part;
  }
  h5::check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, bytes.data()), "cannot be read", name);
  return bytes;
}

struct Source {
  const SiteSummary& site;
  RunSide side;
  const Integrity& whole;
};

// Given each stretch of rows that was written: its block, without its bytes, and where in the file they lie.
using TakeRows = std::function<void(const h5::Dataset&, const h5::Type&, CapturedBlock, std::uint64_t offset, std::uint64_t bytes, const std::string& name)>;

void walkDataset(const h5::Group& group, const std::string& name, std::int64_t batch, const Source& source, const TakeRows& take) {
  const h5::Dataset dataset = h5::openDataset(group, name);
  const h5::Type type(h5::check(H5Dget_type(dataset), "has no readable type", name));
  CapturedBlock block;
  block.dtype = dtypeOf(type, name);
  block.shape = h5::shapeOf(dataset, name);
  block.batch = batch;
  if (batch < 0 && block.shape.empty()) h5::fail("has no axis of samples", name, kDamagedFile);
  checkAgainstRecord(source.site, source.side, block, name);
  const std::vector<std::int64_t> whole = block.shape;
  const auto ranges = batch < 0 ? rowsWritten(dataset, name, whole[0]) : std::vector<RowRange>{{0, whole.empty() ? 1 : whole[0]}};
  const std::uint64_t rows = static_cast<std::uint64_t>(whole.empty() ? 1 : whole[0]);
  const std::uint64_t rowBytes = rows == 0 ? 0 : h5::byteCount(whole, H5Tget_size(type), name) / rows;
  for (const RowRange& range : ranges) {
    if (batch < 0) block.shape[0] = range.end - range.first;
    block.firstSample = range.first;
    take(dataset, type, block, H5Dget_offset(dataset) + static_cast<std::uint64_t>(range.first) * rowBytes, static_cast<std::uint64_t>(range.end - range.first) * rowBytes, name);
  }
}

std::int64_t batchOf(const std::string& name, RunSide side) {
  const std::string before = sideName(side) + "_b";
  if (!name.starts_with(before) || name.size() > before.size() + 9 || name.size() < before.size() + 4 ||
      name.find_first_not_of("0123456789", before.size()) != std::string::npos)
    h5::fail("is no dataset that a capture has", name, kDamagedFile);
  return std::stol(name.substr(before.size()));
}

void walkBlocks(const std::string& path, const Session& session, const RunRecord& run, std::size_t index, RunSide side, const Integrity& whole, const TakeRows& take) {
  const h5::File file = h5::openForReading(path, h5::Locking::none);
  const h5::Group group = h5::openGroup(h5::openGroup(openTensorsEntry(file, session, run), kCaptures), captureName(index));
  const std::int64_t number = run.capture->sites[index].site;
  if (h5::readIntegerAttribute(group, "site") != number) h5::fail("is of another op site than the record says", captureName(index), kDamagedFile);
  const Source source{run.sites.at(static_cast<std::size_t>(number)), side, whole};
  for (const h5::LinkName& link : h5::links(group))
    if (link.name == sideName(side))
      walkDataset(group, link.name, -1, source, take);
    else if (link.name.starts_with(sideName(side)))
      walkDataset(group, link.name, batchOf(link.name, side), source, take);
}

std::vector<CapturedBlock> readBlocks(const std::string& path, const Session& session, const RunRecord& run, std::size_t index, RunSide side, const Integrity& whole) {
  std::vector<CapturedBlock> blocks;
  walkBlocks(path, session, run, index, side, whole, [&](const h5::Dataset& dataset, const h5::Type& type, CapturedBlock block, std::uint64_t offset, std::uint64_t, const std::string& name) {
    block.bytes = readRows(dataset, type, block.shape, block.batch < 0 ? block.firstSample : 0, name);
    if (whole.digest == Digest::intact && !block.bytes.empty()) checkBytes(whole.extents, offset, block.bytes, name);
    blocks.push_back(std::move(block));
  });
  return blocks;
}

std::vector<PlacedBlock> placedBlocks(const std::string& path, const Session& session, const RunRecord& run, std::size_t index, RunSide side, const Integrity& whole) {
  std::vector<PlacedBlock> blocks;
  walkBlocks(path, session, run, index, side, whole, [&](const h5::Dataset&, const h5::Type&, CapturedBlock block, std::uint64_t offset, std::uint64_t bytes, const std::string& name) {
    blocks.push_back({std::move(block), offset, bytes, name});
  });
  return blocks;
}

// The tensors file, its integrity, and the run's record; errors as readCapture's.
struct Opened {
  std::string path;
  Integrity whole;
};
Result<Opened> openFor(const std::string& masterPath, const Session& session, const std::string& runId, std::size_t index) {
  const auto path = fileOfRun(masterPath, session, runId, RunFileKind::tensors);
  if (!path) return path.error();
  const RunRecord& run = *session.run(runId);
  if (!run.capture || index >= run.capture->sites.size())
    return Error{ErrorKind::usage, "has no captured op site of that number", masterPath + ", " + runId, "see the run's captured op sites"};
  auto whole = h5::checkFile(path.value());
  if (!whole) return whole.error();
  return Opened{path.value(), std::move(whole).value()};
}

}  // namespace

Result<std::vector<CapturedBlock>> readCapture(const std::string& masterPath, const Session& session, const std::string& runId, std::size_t index, RunSide side) {
  const auto opened = openFor(masterPath, session, runId, index);
  if (!opened) return opened.error();
  const std::scoped_lock alone(h5::libraryMutex());
  const auto body = [&] { return readBlocks(opened->path, session, *session.run(runId), index, side, opened->whole); };
  return opened->whole.digest == Digest::intact ? h5::caught(opened->path, body) : h5::triedAndRead(opened->path, body);
}

Result<PlacedCapture> placeCapture(const std::string& masterPath, const Session& session, const std::string& runId, std::size_t index, RunSide side) {
  auto opened = openFor(masterPath, session, runId, index);
  if (!opened) return opened.error();
  PlacedCapture placed{opened->path, {}, {}};
  if (opened->whole.digest != Digest::intact) return placed;
  const std::scoped_lock alone(h5::libraryMutex());
  auto blocks = h5::caught(opened->path, [&] { return placedBlocks(opened->path, session, *session.run(runId), index, side, opened->whole); });
  if (!blocks) return blocks.error();
  placed.blocks = std::move(blocks).value();
  placed.extents = std::move(opened->whole.extents);
  return placed;
}

}  // namespace ulpscope::storage
