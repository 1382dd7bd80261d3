#include "core/engine/capture.h"
namespace ulpscope::engine {
namespace {

std::int64_t bytesOf(const HeldView& view) {
  return view.view.elementCount() * static_cast<std::int64_t>(base::sizeBytes(view.view.dtype));
}

std::string labelOf(const OpEvent& event, int output) {
  session::SiteSummary site;
  site.modulePath = event.modulePath;
  site.op = event.op;
  return session::siteLabel(site) + (output > 0 ? ", output " + std::to_string(output) : "");
}

}  // namespace

base::Result<Capture> Capture::make(const session::RunSettings& settings, const LoadedModel& model, storage::RunWriter& writer, std::int64_t samples) {
  auto patterns = RegionSet::make(settings.capture, {}, model.info, model.ops);
  if (!patterns) {
    base::Error error = patterns.error();  // in the words of FP32 regions
    if (const auto at = error.which.find("--fp32"); at != std::string::npos) error.which.replace(at, 6, "--capture");
    return error;
  }
  Capture capture;
  capture.m_patterns = std::move(patterns).value();
  capture.m_writer = &writer;
  capture.m_samples = samples;
  capture.m_budget = settings.captureBudget;
  return capture;
}

void Capture::beginBatch(Batch batch) {
  m_batch = batch;
  ++m_batchNumber;
}

bool Capture::wanted(const OpEvent& event) const {
  if (m_patterns.matchesOp({event.modulePath, event.op, event.overload, event.source, event.occurrence})) return true;
  for (std::string path = event.modulePath;; path.resize(path.rfind('.') == std::string::npos ? 0 : path.rfind('.'))) {
    if (m_patterns.matchesModule(path)) return true;
    if (path.empty()) return false;
  }
}

Capture::Site Capture::decide(const SiteKey& key, const OpEvent& event, const session::SampleAxis& axis, const HeldView& reference, const HeldView& candidate) {
  Site site;
  if (!wanted(event)) return site;
  const std::int64_t both = bytesOf(reference) + bytesOf(candidate);
  site.expected = m_batch.size > 0 && m_samples > m_batch.size ? both / m_batch.size * m_samples + both % m_batch.size : both;
  if (site.expected > m_budget - m_promised) {
    site.state = State::leftOut;
    return site;
  }
  m_promised += site.expected;
  site.state = State::taken;
  const bool found = axis.kind == session::SampleAxis::Kind::plain && axis.axis == 0;
  const bool alone = m_batch.size == 1 && m_samples > 1;  // no axis was looked for: a leading one of size 1 is the sample's
  site.onAxis0 = (found || alone) && !reference.view.shape.empty() && reference.view.shape[0] == m_batch.size;
  site.capture = m_writer->addCapture({labelOf(event, key.output), site.onAxis0, m_samples});
  m_order.push_back(key);
  return site;
}

void Capture::write(Site& site, storage::RunSide side, const HeldView& view) {
  const storage::CaptureBlock block{site.capture, side, view.view.dtype, view.view.shape, view.view.strides, view.view.data, m_batchNumber, m_batch.first};
  if (auto status = m_writer->capture(block); !status) throw CaptureFailed{status.error()};
  site.bytes += bytesOf(view);
}

void Capture::take(const SiteKey& key, const OpEvent& event, const session::SampleAxis& axis, const HeldView& reference, const HeldView& candidate) {
  auto found = m_sites.find(key);
  if (found == m_sites.end()) found = m_sites.emplace(key, decide(key, event, axis, reference, candidate)).first;
  Site& site = found->second;
  if (site.state != State::taken) return;
  write(site, storage::RunSide::reference, reference);
  write(site, storage::RunSide::candidate, candidate);
}

session::Capture Capture::summary(const std::map<SiteKey, std::int64_t>& numbers) const {
  session::Capture summary;
  summary.budget = m_budget;
  for (const SiteKey& key : m_order) summary.sites.push_back({numbers.at(key), m_sites.at(key).bytes});
  for (const auto& [key, site] : m_sites)
    if (site.state == State::leftOut) summary.leftOut.push_back({numbers.at(key), site.expected, "budget"});
  return summary;
}

}  // namespace ulpscope::engine
