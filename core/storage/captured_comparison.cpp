#include "core/storage/captured_comparison.h"

#include "core/analysis/divergence.h"
#include "core/analysis/light_comparison.h"
#include "core/session/site_key.h"
#include "core/storage/capture_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace ulpscope::storage {
namespace {

using base::Result;
using base::Status;

// Capture number by its site.
std::map<session::SiteKey, std::size_t> capturesOf(const session::RunRecord& run) {
  std::map<session::SiteKey, std::size_t> captures;
  for (std::size_t i = 0; run.capture && i < run.capture->sites.size(); ++i) {
    const auto site = static_cast<std::size_t>(run.capture->sites[i].site);
    if (site < run.sites.size()) captures.emplace(session::siteKey(run.sites[site]), i);
  }
  return captures;
}

analysis::TensorView viewOf(const CapturedBlock& block) { return {block.bytes.data(), block.dtype, block.shape}; }

// Sums of all blocks of one site.
struct Total {
  analysis::LightSums sums;
  bool identical = true, fits = true;

  void add(const CapturedBlock& a, const CapturedBlock& b, base::DType low) {
    identical = identical && a.dtype == b.dtype && a.bytes.size() == b.bytes.size() && std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
    for (const auto& d : analysis::compareTensors(base::Reference(viewOf(a)), base::Candidate(viewOf(b)), analysis::layoutOf(a.shape, {}, 1), {low, session::siteTolerance(low), false})) {
      sums.add({static_cast<double>(d.sumSquaredDifference), static_cast<double>(d.sumSquaredReference), d.finitePairs > 0 ? d.maxAbsOrNan() : 0, d.finitePairs});
    }
  }
  double relL2() const {
    if (sums.finitePairs == 0) return std::nan("");
    if (sums.squaredReference > 0) return std::sqrt(sums.squaredDifference / sums.squaredReference);
    return sums.squaredDifference > 0 ? INFINITY : 0;
  }
};

// Held open while it lives.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {}
  ~OpenFile() {
    if (m_fd >= 0) ::close(m_fd);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return m_fd; }

 private:
  int m_fd;
};

bool sameShapes(const PlacedCapture& a, const PlacedCapture& b) {
  return std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(), [](const auto& x, const auto& y) { return x.block.shape == y.block.shape; });
}

bool streams(const PlacedCapture& capture) {
  return !capture.blocks.empty() && std::all_of(capture.blocks.begin(), capture.blocks.end(), [](const PlacedBlock& b) { return analysis::isLight(b.block.dtype); });
}

// Piece after piece through two small rooms, so that gigabytes pass through the processor's caches.
Status addStreamed(Total& total, const PlacedCapture& a, const PlacedCapture& b) {
  constexpr std::size_t kElements = 64 * 1024;
  const OpenFile fileA(a.path), fileB(b.path);
  std::vector<std::byte> roomA, roomB;
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    BlockStream streamA(fileA.get(), a, a.blocks[i]), streamB(fileB.get(), b, b.blocks[i]);
    const base::DType dtypeA = a.blocks[i].block.dtype, dtypeB = b.blocks[i].block.dtype;
    roomA.resize(kElements * base::sizeBytes(dtypeA));
    roomB.resize(kElements * base::sizeBytes(dtypeB));
    for (;;) {
      const auto sizeA = streamA.next(roomA), sizeB = streamB.next(roomB);
      if (!sizeA) return sizeA.error();
      if (!sizeB) return sizeB.error();
      if (sizeA.value() == 0) break;
      total.identical = total.identical && dtypeA == dtypeB && std::memcmp(roomA.data(), roomB.data(), sizeA.value()) == 0;
      total.sums.add(analysis::lightSums(roomA.data(), dtypeA, roomB.data(), dtypeB, static_cast<std::int64_t>(sizeA.value() / base::sizeBytes(dtypeA))));
    }
  }
  return base::success();
}

// What does not stream: integers, complex numbers, files that another program wrote.
Status addWhole(Total& total, const StoredRun& a, std::size_t inA, const StoredRun& b, std::size_t inB) {
  const auto blocksA = readCapture(a.masterPath, a.session, a.run.id(), inA, RunSide::candidate);
  if (!blocksA) return blocksA.error();
  const auto blocksB = readCapture(b.masterPath, b.session, b.run.id(), inB, RunSide::candidate);
  if (!blocksB) return blocksB.error();
  total.fits = std::equal(blocksA->begin(), blocksA->end(), blocksB->begin(), blocksB->end(), [](const auto& x, const auto& y) { return x.shape == y.shape; });
  for (std::size_t i = 0; total.fits && i < blocksA->size(); ++i) total.add(blocksA.value()[i], blocksB.value()[i], a.run.settings.autocast);
  return base::success();
}

Result<ComparedCapture> compareOne(const StoredRun& a, std::size_t inA, const StoredRun& b, std::size_t inB, const std::string& site) {
  const auto placedA = placeCapture(a.masterPath, a.session, a.run.id(), inA, RunSide::candidate);
  if (!placedA) return placedA.error();
  const auto placedB = placeCapture(b.masterPath, b.session, b.run.id(), inB, RunSide::candidate);
  if (!placedB) return placedB.error();
  Total total;
  const bool streamed = streams(placedA.value()) && streams(placedB.value());
  if (streamed) total.fits = sameShapes(placedA.value(), placedB.value());
  if (total.fits)
    if (auto added = streamed ? addStreamed(total, placedA.value(), placedB.value()) : addWhole(total, a, inA, b, inB); !added) return added.error();
  if (!total.fits) return ComparedCapture{site, std::nan(""), std::nan(""), false, "of other shapes in the two runs"};
  return ComparedCapture{site, total.sums.finitePairs > 0 ? total.sums.maxAbs : std::nan(""), total.relL2(), total.identical, ""};
}

}  // namespace

Result<std::vector<ComparedCapture>> compareCaptures(const StoredRun& a, const StoredRun& b) {
  std::vector<ComparedCapture> compared;
  const auto inB = capturesOf(b.run);
  const std::vector<std::string> names = session::siteNames(a.run);
  for (const auto& [site, number] : capturesOf(a.run)) {
    const auto other = inB.find(site);
    if (other == inB.end()) continue;
    auto one = compareOne(a, number, b, other->second, names[static_cast<std::size_t>(a.run.capture->sites[number].site)]);
    if (!one) return one.error();
    compared.push_back(std::move(one).value());
  }
  return compared;
}

}  // namespace ulpscope::storage
