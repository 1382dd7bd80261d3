#include "captured_comparison.h"

#include "core/analysis/divergence.h"
#include "core/storage/run_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace ulpscope::cli {
namespace {

using base::Result;
using report::ComparedCapture;
using report::ComparedRun;
using storage::CapturedBlock;

// Capture number by the site's name.
std::map<std::string, std::size_t> capturesOf(const session::RunRecord& run) {
  std::map<std::string, std::size_t> captures;
  for (std::size_t i = 0; run.capture && i < run.capture->sites.size(); ++i) {
    const auto site = static_cast<std::size_t>(run.capture->sites[i].site);
    if (site < run.sites.size()) captures.emplace(session::siteLabel(run.sites[site]), i);
  }
  return captures;
}

analysis::TensorView viewOf(const CapturedBlock& block) { return {block.bytes.data(), block.dtype, block.shape}; }

// Sums of all blocks of one site.
struct Total {
  long double difference = 0, reference = 0;
  double maxAbs = 0;
  std::int64_t finite = 0;
  bool identical = true;

  void add(const CapturedBlock& a, const CapturedBlock& b, base::DType low) {
    identical = identical && a.dtype == b.dtype && a.bytes.size() == b.bytes.size() && std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
    for (const auto& d : analysis::compareTensors(base::Reference(viewOf(a)), base::Candidate(viewOf(b)), analysis::layoutOf(a.shape, {}, 1), {low, session::siteTolerance(low), false})) {
      difference += d.sumSquaredDifference;
      reference += d.sumSquaredReference;
      finite += d.finitePairs;
      if (d.finitePairs > 0) maxAbs = std::max(maxAbs, d.maxAbsOrNan());
    }
  }
  double relL2() const { return finite == 0 ? std::nan("") : reference > 0 ? static_cast<double>(std::sqrt(difference / reference)) : difference > 0 ? INFINITY : 0; }
};

Result<ComparedCapture> compareOne(const ComparedRun& a, std::size_t inA, const ComparedRun& b, std::size_t inB, const std::string& site) {
  const auto blocksA = storage::readCapture(a.path, a.session, a.run.id(), inA, storage::RunSide::candidate);
  if (!blocksA) return blocksA.error();
  const auto blocksB = storage::readCapture(b.path, b.session, b.run.id(), inB, storage::RunSide::candidate);
  if (!blocksB) return blocksB.error();
  ComparedCapture compared{site, std::nan(""), std::nan(""), false, ""};
  const bool fits = std::equal(blocksA->begin(), blocksA->end(), blocksB->begin(), blocksB->end(), [](const auto& x, const auto& y) { return x.shape == y.shape; });
  if (!fits) compared.note = "of other shapes in the two runs";
  if (!fits) return compared;
  Total total;
  for (std::size_t i = 0; i < blocksA->size(); ++i) total.add(blocksA.value()[i], blocksB.value()[i], a.run.settings.autocast);
  compared.relL2 = total.relL2();
  compared.maxAbs = total.finite > 0 ? total.maxAbs : std::nan("");
  compared.identical = total.identical;
  return compared;
}

}  // namespace

Result<std::vector<ComparedCapture>> compareCaptures(const ComparedRun& a, const ComparedRun& b) {
  std::vector<ComparedCapture> compared;
  const auto inB = capturesOf(b.run);
  for (const auto& [site, number] : capturesOf(a.run)) {
    const auto other = inB.find(site);
    if (other == inB.end()) continue;
    auto one = compareOne(a, number, b, other->second, site);
    if (!one) return one.error();
    compared.push_back(std::move(one).value());
  }
  return compared;
}

}  // namespace ulpscope::cli
